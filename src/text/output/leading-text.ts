/**
 * Free text where calls need no marker: it must not start like a call, or a call could come in
 * unconstrained. Described by the texts on the way to a call, which may end there, and by the shortest
 * texts that left that way.
 */

import type { BlockSyntax } from "./call-syntax.ts";
import { choice, type GrammarSpec, sequence } from "./grammar-spec.ts";

/** Regular expressions of what follows the first character of a call. */
interface Way {
  readonly first: string;
  readonly onIt: string;
  readonly offIt: string;
}

/** `name(`, whatever the name: what has no parenthesis behind it is no call. */
const TO_PYTHON: Way = {
  first: "[",
  onIt: "\\s*[A-Za-z0-9_-]*",
  offIt: "\\s*(?:[^\\sA-Za-z0-9_-]|[A-Za-z0-9_-]+[^A-Za-z0-9_(-])",
};

const CALL_KEYS = ["name", "tool_name", "type"];

/** @param thinkingOpen begins thinking, behind which a message starts again */
export function textWithoutCall(
  blocks: readonly BlockSyntax[],
  thinkingOpen: string | undefined,
): GrammarSpec {
  const markers = blocks.flatMap(({ opening }) => ("marker" in opening ? opening.marker : []));
  const ways = [...blocks.flatMap(wayTo), ...(thinkingOpen ? [wayToTexts([thinkingOpen])] : [])];
  const firsts = ways.map(({ first }) => inClass(first)).join("");
  const on = ways.map(({ first, onIt }) => `${literally(first)}${onIt}`);
  const off = ways.map(({ first, offIt }) => `${literally(first)}${offIt}`);
  return choice([
    { regex: `\\s*(?:${on.join("|")})?` },
    sequence(
      { regex: `\\s*(?:${[`[^\\s${firsts}]`, ...off].join("|")})` },
      { text: true, excluding: markers },
    ),
  ]);
}

function wayTo({ opening }: BlockSyntax): readonly Way[] {
  if (!("leading" in opening)) return [];
  if (opening.leading === "[") return [TO_PYTHON];
  const { onIt, offIt } = wayToTexts(CALL_KEYS.map((key) => `"${key}"`));
  const quote = { onIt: `(?:"${onIt})?`, offIt: `(?:[^\\s"]|"${offIt})` };
  return [{ first: "{", onIt: `\\s*${quote.onIt}`, offIt: `\\s*${quote.offIt}` }];
}

/** @param texts start with the same character */
function wayToTexts(texts: readonly string[]): Way {
  const first = texts[0]?.charAt(0) ?? "";
  const rests = texts.map((text) => text.slice(1));
  return { first, onIt: beginningsOf(rests), offIt: departuresFrom(rests) };
}

/** Of each of the texts, but for the whole one. */
function beginningsOf(texts: readonly string[]): string {
  const ways = [...byFirst(texts)].flatMap(([first, rests]) =>
    rests.includes("") ? [] : [`${literally(first)}${beginningsOf(rests)}`],
  );
  return ways.length === 0 ? "" : `(?:${ways.join("|")})?`;
}

function departuresFrom(texts: readonly string[]): string {
  const groups = byFirst(texts);
  const others = `[^${[...groups.keys()].map(inClass).join("")}]`;
  const ways = [...groups].flatMap(([first, rests]) =>
    rests.includes("") ? [] : [`${literally(first)}${departuresFrom(rests)}`],
  );
  return `(?:${[others, ...ways].join("|")})`;
}

/** What follows each first character. */
function byFirst(texts: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const groups = new Map<string, readonly string[]>();
  for (const text of texts) {
    const first = text.charAt(0);
    groups.set(first, [...(groups.get(first) ?? []), text.slice(1)]);
  }
  return groups;
}

function literally(character: string): string {
  return character.replace(/[\\^$.*+?()[\]{}|/]/, "\\$&");
}

function inClass(character: string): string {
  return character.replace(/[\\\]^[-]/, "\\$&");
}
