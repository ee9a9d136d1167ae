/** Characters of a JSON value's strings and keys: its size, about, without making its text. */
export function jsonChars(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 0;
  let chars = 0;
  for (const [key, element] of Object.entries(value)) {
    chars += (Array.isArray(value) ? 0 : key.length) + jsonChars(element);
  }
  return chars;
}

/** All of the values together. Looks at no more of them than it has to. */
export function exceedsChars(values: readonly unknown[], maxChars: number): boolean {
  let chars = 0;
  return values.some((value) => {
    chars += jsonChars(value);
    return chars > maxChars;
  });
}
