/**
 * Pings a WebSocket peer and cuts it when it does not answer: half-open peers send nothing else. While
 * the socket is paused, answers are not read and prove nothing.
 */
import type { WebSocket } from "ws";
import type { GatewayLimits } from "./gateway-options.ts";

/** Returns the function that stops watching. */
export function watchPeer(socket: WebSocket, limits: GatewayLimits): () => void {
  let pongTimer: NodeJS.Timeout | undefined;
  const pingTimer = setInterval(() => {
    if (socket.isPaused) return;
    socket.ping();
    pongTimer ??= setTimeout(() => {
      pongTimer = undefined;
      if (!socket.isPaused) socket.terminate();
    }, limits.pongTimeoutMs).unref();
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
