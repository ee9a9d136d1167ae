import { ApiError } from "../protocol/api-error.ts";
import { quote } from "../protocol/field-reader.ts";
import type { SessionService } from "../session/session-types.ts";

/** @throws {ApiError} 404: clients stop at once on this code, instead of trying again */
export function requireModel(session: SessionService, id: string): void {
  if (id === session.modelId) return;
  const message = `There is no model ${quote(id)} here; this server has ${quote(session.modelId)}.`;
  throw new ApiError(404, "invalid_request_error", "model_not_found", message, "model");
}
