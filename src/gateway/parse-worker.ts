/**
 * Entry of a parse worker thread. Refusals travel as values, because an ApiError loses its class on the way
 * between threads.
 */
import type { ApiErrorFacts } from "../protocol/api-error.ts";
import { ApiError } from "../protocol/api-error.ts";
import { type ParsedRequest, REQUEST_FORMS, type RequestForm } from "./request-forms.ts";

export interface ParseTask {
  readonly form: RequestForm;
  readonly payload: Uint8Array;
}

export type ParseAnswer =
  | { readonly parsed: ParsedRequest<RequestForm> }
  | { readonly refusal: ApiErrorFacts };

export function parse({ form, payload }: ParseTask): ParseAnswer {
  try {
    return { parsed: REQUEST_FORMS[form](payload) };
  } catch (error) {
    if (error instanceof ApiError) return { refusal: error.facts };
    throw error;
  }
}
