import { type ConfigOf, integer, option, size, text } from "./option.ts";

export const STORE_OPTIONS = {
  folder: option<string | undefined>({
    flag: "store-dir",
    placeholder: "FOLDER|none",
    meaning: "where stored responses are kept; none forgets them with the process",
    defaultText: "warmloop in the user's state folder",
    default: undefined,
    parse: text,
  }),
  maxResponses: option<number>({
    flag: "store-responses",
    placeholder: "N",
    meaning: "responses that are kept for each tenant, the last used ones",
    default: 1000,
    parse: integer(1, 1_000_000),
  }),
  maxBytes: option<number>({
    flag: "store-size",
    placeholder: "SIZE",
    meaning: "bytes that are kept for each tenant",
    defaultText: "256MiB",
    default: 256 * 2 ** 20,
    parse: size(2 ** 20, "1MiB"),
  }),
  ttlHours: option<number>({
    flag: "store-hours",
    placeholder: "N",
    meaning: "hours that a response is kept",
    default: 24,
    parse: integer(1, 24 * 365),
  }),
} as const;

/** Options, and what the surroundings say. */
export type StoreConfig = Omit<ConfigOf<typeof STORE_OPTIONS>, "folder"> & {
  /** undefined: memory only. */
  readonly folder: string | undefined;
  /** Nobody asked for this folder: a machine where it cannot be made is served from memory. */
  readonly isDefaultFolder: boolean;
};
