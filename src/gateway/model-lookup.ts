import { ApiError } from "../protocol/api-error.ts";
import { quote } from "../protocol/field-reader.ts";
import type { SessionService } from "../session/session-types.ts";
import type { Caller } from "./caller.ts";

/** @throws {ApiError} 404: clients stop at once on this code, instead of trying again */
export function requireModel(session: SessionService, caller: Caller, id: string): void {
  const { modelId } = session;
  const mayUse = caller.mayUse(modelId);
  if (id === modelId && mayUse) return;
  const served = mayUse
    ? `this server has ${quote(modelId)}`
    : "this key may use none that is served";
  const message = `There is no model ${quote(id)} here; ${served}.`;
  throw new ApiError(404, "invalid_request_error", "model_not_found", message, "model");
}
