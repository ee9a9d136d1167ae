// A plain HTTP client that keeps what a case may ask about: bytes, times, how the connection ended.
import http from "node:http";

/**
 * Sends one request and keeps when each part came. A broken connection is a result with `error`, not an
 * exception.
 */
export function exchange(url, { method, headers, payload, timeoutMs, abortWhen }) {
  return new Promise((resolve) => {
    const started = performance.now();
    const got = {
      status: 0,
      headers: {},
      chunks: [],
      error: null,
      aborted: false,
    };
    let lastAt = started;
    const tick = () => {
      const now = performance.now();
      got.max_gap_ms = Math.max(got.max_gap_ms ?? 0, now - lastAt);
      lastAt = now;
      return now - started;
    };
    const finish = (error) => {
      clearTimeout(timer);
      got.ms ??= tick();
      if (error && !got.aborted) got.error ??= error.message;
      resolve(got);
    };
    const request = http.request(url, { method, headers, agent: false }, (response) => {
      got.status = response.statusCode;
      got.headers = response.headers;
      got.headers_ms = tick();
      response.on("data", (data) => {
        tick();
        got.chunks.push(data);
        if (abortWhen?.(got)) abort();
      });
      response.on("end", () => finish());
      response.on("error", finish);
    });
    const abort = () => {
      got.aborted = true;
      request.destroy();
    };
    const timer = setTimeout(() => {
      request.destroy(new Error(`no end after ${timeoutMs / 1000} s`));
    }, timeoutMs);
    request.on("upgrade", (response, socket) => {
      Object.assign(got, { status: response.statusCode, headers: response.headers });
      socket.destroy();
      finish();
    });
    request.on("error", finish);
    request.on("close", () => finish(got.status ? undefined : new Error("connection closed")));
    request.end(payload);
  });
}

export async function getText(url, timeoutMs = 5000, headers = {}) {
  const got = await exchange(url, { method: "GET", headers, timeoutMs });
  return {
    status: got.status,
    ms: got.ms,
    text: Buffer.concat(got.chunks).toString("utf8"),
    error: got.error,
  };
}
