/**
 * Entry of a parse worker thread. Refusals travel as values, because an ApiError loses its class on the way
 * between threads.
 */
import { type Outcome, refusalOf } from "../protocol/api-error.ts";
import { type ParsedRequest, REQUEST_FORMS, type RequestForm } from "./request-forms.ts";

export interface ParseTask {
  readonly form: RequestForm;
  readonly payload: Uint8Array;
}

export type ParseAnswer = Outcome<ParsedRequest<RequestForm>>;

export function parse({ form, payload }: ParseTask): ParseAnswer {
  try {
    return { accepted: REQUEST_FORMS[form](payload) };
  } catch (error) {
    return refusalOf(error);
  }
}
