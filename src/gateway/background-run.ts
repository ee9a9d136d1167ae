/** A response that runs on without its client: the answer is its first state. */
import type { ResponseObject, ResponsesRequest } from "../protocol/responses-types.ts";
import type { TurnContext } from "../session/session-types.ts";
import type { Caller } from "./caller.ts";
import type { ExchangeServices } from "./http-exchange.ts";

/**
 * Drains wait for the run, and it holds the caller's place in flight to its end.
 * @throws {ApiError} when it is refused before it starts
 */
export function runInBackground(
  { state }: Pick<ExchangeServices, "state">,
  caller: Caller,
  request: ResponsesRequest,
  context: TurnContext,
): Promise<ResponseObject> {
  const session = state.requireSession();
  const controller = new AbortController();
  const release = caller.holdPlace();
  state.add(controller);
  return new Promise((resolve, reject) => {
    session
      .createResponse(
        request,
        context,
        (event) => {
          if (event.type === "response.created") resolve(event.response);
        },
        controller.signal,
      )
      .then(resolve, reject)
      .finally(() => {
        state.remove(controller);
        release();
      });
  });
}
