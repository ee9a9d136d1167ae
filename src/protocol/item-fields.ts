/** Fields that items of several types have. */
import type { FieldReader } from "./field-reader.ts";
import { checkTextSize } from "./request-limits.ts";

export function idOf(item: FieldReader): { readonly id?: string } {
  const id = item.string("id");
  return id === undefined ? {} : { id };
}

export function textField(part: FieldReader, name: string): string {
  return checkTextSize(part.requiredString(name), part.pathOf(name));
}
