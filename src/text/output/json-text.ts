/** Text inside JSON, piece by piece. */

/** Inside a JSON string; pieces of a text give the pieces of its whole, surrogate pairs included. */
export function jsonText(piece: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: JSON strings must escape them
  return piece.replace(/["\\\u0000-\u001f]/g, (character) =>
    JSON.stringify(character).slice(1, -1),
  );
}

export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

/** The text without the first half of a surrogate pair at its end. */
export function wholeCharacters(text: string): string {
  return /[\ud800-\udbff]$/.test(text) ? text.slice(0, -1) : text;
}
