/** Values of the metrics' labels. */
export type MetricTransport = "http" | "sse" | "ws";
export type FinishedReason = "stop" | "length" | "abort" | "error";
