import { type ConfigOf, oneOf, option } from "./option.ts";

const LEVELS = ["trace", "debug", "info", "warn", "error", "silent"] as const;

export const LOG_OPTIONS = {
  level: option<(typeof LEVELS)[number]>({
    flag: "log-level",
    placeholder: LEVELS.join("|"),
    meaning: "least severe log line that is written",
    default: "info",
    parse: oneOf(LEVELS),
  }),
} as const;

export type LogConfig = ConfigOf<typeof LOG_OPTIONS>;
