import { type ConfigOf, integer, list, onOff, oneOf, option, text } from "./option.ts";

export const SERVER_OPTIONS = {
  host: option<string>({
    flag: "host",
    placeholder: "ADDRESS",
    meaning: "address to listen on; another than loopback needs --api-keys",
    default: "127.0.0.1",
    parse: text,
  }),
  port: option<number>({
    flag: "port",
    placeholder: "N",
    meaning: "TCP port; 0 takes a free one",
    default: 8080,
    parse: integer(0, 65535),
  }),
  apiKeysFile: option<string | undefined>({
    flag: "api-keys",
    placeholder: "FILE",
    meaning:
      "lines `tenant key [limits]`, read again at SIGHUP; without it there is one tenant and no key",
    default: undefined,
    parse: text,
  }),
  corsOrigins: option<readonly string[]>({
    flag: "cors-origins",
    placeholder: "LIST",
    meaning: "web origins that may call the server, comma-separated",
    defaultText: "none",
    default: [],
    parse: list,
  }),
  isWebSocketEnabled: option<boolean>({
    flag: "websocket",
    placeholder: "on|off",
    meaning: "serve WebSockets at /v1/responses; off answers them 426 and clients use HTTP",
    defaultText: "on",
    default: true,
    parse: onOff,
  }),
  maxConnections: option<number>({
    flag: "max-connections",
    placeholder: "N",
    meaning: "WebSockets that are open at a time; more are answered 503",
    default: 256,
    parse: integer(1, 1_000_000),
  }),
  sendsDone: option<boolean>({
    flag: "sse-done",
    placeholder: "on|off",
    meaning: "end the events of a response with data: [DONE], as the Open Responses profile has it",
    defaultText: "off",
    default: false,
    parse: onOff,
  }),
  reasoning: option<"raw" | "summary">({
    flag: "reasoning",
    placeholder: "raw|summary",
    meaning: "thinking as reasoning text, or as a summary for clients that show summaries only",
    default: "raw",
    parse: oneOf(["raw", "summary"]),
  }),
  echo: option<"http" | "all" | "none">({
    flag: "echo",
    placeholder: "http|all|none",
    meaning: "transports on which responses repeat the instructions and tools of their request",
    default: "http",
    parse: oneOf(["http", "all", "none"]),
  }),
  deltaRender: option<"on" | "off" | "check">({
    flag: "delta-render",
    placeholder: "on|off|check",
    meaning:
      "render only the new items of a turn, or the whole conversation each time, or both and compare",
    default: "on",
    parse: oneOf(["on", "off", "check"]),
  }),
  drainSeconds: option<number>({
    flag: "drain-seconds",
    placeholder: "N",
    meaning: "time that open responses get to finish after SIGTERM",
    default: 5, // container runtimes kill after 10 s
    parse: integer(0, 3600),
  }),
} as const;

export type ServerConfig = ConfigOf<typeof SERVER_OPTIONS>;
