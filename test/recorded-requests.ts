/**
 * Requests that real clients sent, as the test data has them: complete frames of Codex, and captures
 * of several clients, in which repeated tools and long texts are cut.
 */
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { isJsonObject, type JsonObject } from "../src/base/json-object.ts";
import type { RequestTransport } from "../src/protocol/responses-request.ts";
import { testDataFolder } from "./fixture-models.ts";

export interface RecordedRequest {
  readonly transport: RequestTransport;
  /** Which conversation of the recording it belongs to. */
  readonly conversation: string;
  readonly body: JsonObject;
}

const FRAMES = [
  "traces/codex-frames/ws-4-turns.jsonl",
  "traces/codex-frames/http-4-turns.jsonl",
  "traces/codex-frames/ws-code-mode.jsonl",
  "traces/codex-frames/ws-tool-search-2-mcp-servers.jsonl",
];
const CAPTURES = ["captures/codex-ws.jsonl", "captures/codex-http.jsonl", "captures/sdk.jsonl"];

/** By file; empty without the test data. */
export function recordedRequests(): ReadonlyMap<string, readonly RecordedRequest[]> {
  return new Map([
    ...FRAMES.flatMap((file) =>
      fileOf(
        file,
        (line) => line.body,
        ({ dir }) => dir === "ws",
      ),
    ),
    ...CAPTURES.flatMap((file) =>
      fileOf(
        file,
        (line) => (line.dir === "c>s" && isResponses(line) ? uncut(line.frame ?? line.body) : null),
        ({ kind }) => kind === "ws",
      ),
    ),
  ]);
}

function fileOf(
  name: string,
  bodyOf: (line: JsonObject) => unknown,
  isSocket: (line: JsonObject) => boolean,
): [string, readonly RecordedRequest[]][] {
  const file = path.join(testDataFolder ?? "", name);
  if (testDataFolder === undefined || !existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").trim().split("\n");
  const requests = lines.flatMap((text): RecordedRequest[] => {
    const line: JsonObject = JSON.parse(text);
    const body = bodyOf(line);
    if (!isJsonObject(body)) return [];
    const transport = isSocket(line) ? "ws" : "http";
    return [{ transport, conversation: `${line.section} ${line.conn}`, body }];
  });
  return [[name, requests]];
}

function isResponses({ kind, url, method }: JsonObject): boolean {
  return kind === "ws" || (method === "POST" && url === "/v1/responses");
}

/** Lists of tools that repeat earlier ones are a text in the captures, and new ones have a note. */
function uncut(body: unknown): unknown {
  if (!isJsonObject(body)) return body;
  const { tools, ...rest } = body;
  return Array.isArray(tools) ? { ...rest, tools: tools.filter(isTool) } : rest;
}

function isTool(tool: unknown): boolean {
  return isJsonObject(tool) && "type" in tool;
}
