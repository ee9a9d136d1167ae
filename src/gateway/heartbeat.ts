/** Pings a WebSocket peer and cuts it when it does not answer: half-open peers send nothing else. */
import type { WebSocket } from "ws";
import type { GatewayLimits } from "./gateway-options.ts";

/** Returns the function that stops watching. */
export function watchPeer(socket: WebSocket, limits: GatewayLimits): () => void {
  let pongTimer: NodeJS.Timeout | undefined;
  const pingTimer = setInterval(() => {
    socket.ping();
    pongTimer ??= setTimeout(() => socket.terminate(), limits.pongTimeoutMs).unref();
  }, limits.pingIntervalMs).unref();
  socket.on("pong", () => {
    clearTimeout(pongTimer);
    pongTimer = undefined;
  });
  return () => {
    clearInterval(pingTimer);
    clearTimeout(pongTimer);
  };
}
