/**
 * Settings that items of the conversation change. An item of this request's own input is later than the
 * request's fields; one from an earlier turn gives way to a field that the request sets itself.
 */
import type {
  ConfigurationItem,
  ContextItem,
  InputItem,
  ResponsesRequest,
} from "../protocol/responses-types.ts";

export function configuredRequest(
  request: ResponsesRequest,
  earlier: readonly ContextItem[],
): ResponsesRequest {
  const before = settingsOf(earlier);
  const now = settingsOf(request.input);
  const ownFormat = request.textFormat.type === "text" ? undefined : request.textFormat;
  return {
    ...request,
    reasoningEffort: now.reasoningEffort ?? request.reasoningEffort ?? before.reasoningEffort,
    textFormat: now.textFormat ?? ownFormat ?? before.textFormat ?? request.textFormat,
  };
}

/** The latest of each setting. */
function settingsOf(
  items: readonly InputItem[],
): Pick<ConfigurationItem, "reasoningEffort" | "textFormat"> {
  const updates = items.filter((item) => item.type === "configuration_update");
  return Object.assign({}, ...updates);
}
