/** Beginnings of JSON objects: what a text that a token cap has cut says so far. */

/** The shortest end for a text inside a string, by what a backslash near its end still wants. */
function endOfString(text: string): string {
  const open = /(?:^|[^\\])(?:\\\\)*(\\(?:u[0-9a-fA-F]{0,3})?)$/.exec(text)?.[1];
  if (open === undefined) return '"';
  return open === "\\" ? '\\"' : `${"0".repeat(6 - open.length)}"`;
}

interface Place {
  /** What closes the arrays and objects that are open, innermost last. */
  readonly closers: readonly string[];
  readonly isInString: boolean;
  /** Where the last member of the outermost object ended with a comma; -1 before any. */
  readonly lastMemberEnd: number;
}

function placeAtEnd(text: string): Place {
  const closers: string[] = [];
  let isInString = false;
  let lastMemberEnd = -1;
  for (let i = 0; i < text.length; ++i) {
    const character = text[i];
    if (isInString) {
      if (character === "\\") ++i;
      else if (character === '"') isInString = false;
    } else if (character === '"') isInString = true;
    else if (character === "{") closers.push("}");
    else if (character === "[") closers.push("]");
    else if (character === "}" || character === "]") closers.pop();
    else if (character === "," && closers.length === 1) lastMemberEnd = i;
  }
  return { closers, isInString, lastMemberEnd };
}

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** What may stand between a cut and the closing brackets. */
const BRIDGES = ["", "0", ":0", '"":0', "e", "ue", "rue", "se", "lse", "alse", "l", "ll", "ull"];

/** Whether some JSON text begins with `text`. */
export function isJsonPrefix(text: string): boolean {
  const { closers, isInString } = placeAtEnd(text);
  const whole = isInString ? text + endOfString(text) : text;
  const tail = closers.toReversed().join("");
  return BRIDGES.some((bridge) => parses(whole + bridge + tail));
}

/** The members of the outermost object that are whole: `{"a": 1, "b": [2` has `a`. */
export function wholeMembers(text: string): unknown {
  const { lastMemberEnd } = placeAtEnd(text);
  return JSON.parse(lastMemberEnd < 0 ? "{}" : `${text.slice(0, lastMemberEnd)}}`);
}
