import { ApiError } from "../../../src/protocol/api-error.ts";

/** "accepted", or status, code and parameter of the refusal. */
export function outcomeOf(parse: () => unknown): string {
  try {
    parse();
  } catch (error) {
    if (error instanceof ApiError) return `${error.status} ${error.body.code} ${error.body.param}`;
    throw error;
  }
  return "accepted";
}
