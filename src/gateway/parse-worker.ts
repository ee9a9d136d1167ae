/**
 * Entry of a parse worker thread. Refusals travel as values, because an ApiError loses its class on the way
 * between threads.
 */
import { type Slices, toSlices } from "../base/slices.ts";
import { type Outcome, refusalOf } from "../protocol/api-error.ts";
import { type ParsedRequest, REQUEST_FORMS, type RequestForm, requestIn } from "./request-forms.ts";

export interface ParseTask {
  readonly form: RequestForm;
  readonly payload: Uint8Array;
}

export interface SlicedRequest {
  /** Without the items of its input. */
  readonly parsed: ParsedRequest<RequestForm>;
  readonly input: Slices;
}

export type ParseAnswer = Outcome<SlicedRequest>;

export function parse({ form, payload }: ParseTask): ParseAnswer {
  try {
    const parsed = REQUEST_FORMS[form](payload);
    const request = requestIn(parsed);
    const input = toSlices(request?.input ?? []);
    if (request) Object.assign(request, { input: [] });
    return { accepted: { parsed, input } };
  } catch (error) {
    return refusalOf(error);
  }
}
