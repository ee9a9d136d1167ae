/**
 * Free text where calls need no marker: it must not start like a call, or a call could come in
 * unconstrained. Built as the texts that leave, with one character, a tree of call beginnings.
 */

import { choice, type GrammarSpec, sequence } from "./grammar-spec.ts";
import type { BlockSyntax } from "./call-syntax.ts";

interface Node {
  /** A character, or `\s+`, to what may follow; null: the beginning is complete. */
  readonly next: Map<string, Node | null>;
}

const SPACE = "\\s+";
const CALL_KEYS = ["name", "tool_name", "type"];

/** @param thinkingOpen begins thinking, behind which a message starts again */
export function textWithoutCall(
  blocks: readonly BlockSyntax[],
  toolNames: readonly string[],
  thinkingOpen: string | undefined,
): GrammarSpec {
  const markers = blocks.flatMap(({ opening }) => ("marker" in opening ? opening.marker : []));
  const tree: Node = { next: new Map() };
  for (const { opening } of blocks) {
    if (!("leading" in opening)) continue;
    const inner =
      opening.leading === "{"
        ? CALL_KEYS.map((key) => `"${key}"`)
        : toolNames.map((name) => `${name}(`);
    const open = child(tree, opening.leading);
    for (const start of inner) for (const node of [open, child(open, SPACE)]) add(node, start);
  }
  if (thinkingOpen !== undefined) add(tree, thinkingOpen);
  return choice([
    { regex: `\\s*${beginnings(tree)}` },
    sequence({ regex: `\\s*${departures(tree, [SPACE])}` }, { text: true, excluding: markers }),
  ]);
}

function add(node: Node, text: string): void {
  const characters = [...text];
  const last = characters.pop();
  let end = node;
  for (const character of characters) end = child(end, character);
  if (last !== undefined) end.next.set(last, null);
}

function child(node: Node, edge: string): Node {
  const known = node.next.get(edge);
  if (known) return known;
  const made: Node = { next: new Map() };
  node.next.set(edge, made);
  return made;
}

/** All texts on the way to a call, that of no character included. */
function beginnings(node: Node): string {
  const ways = [...node.next].flatMap(([edge, next]) =>
    next === null ? [] : [`${edgePattern(edge)}${beginnings(next)}`],
  );
  return ways.length === 0 ? "" : `(?:${ways.join("|")})?`;
}

/**
 * The shortest texts from which no call can come any more.
 * @param also characters that lead elsewhere
 */
function departures(node: Node, also: readonly string[] = []): string {
  const edges = [...node.next.keys(), ...also];
  const others = `[^${edges.map((edge) => (edge === SPACE ? "\\s" : classEscape(edge))).join("")}]`;
  const ways = [...node.next].flatMap(([edge, next]) =>
    next === null ? [] : [`${edgePattern(edge)}${departures(next, edge === SPACE ? [SPACE] : [])}`],
  );
  return `(?:${[others, ...ways].join("|")})`;
}

function edgePattern(edge: string): string {
  return edge === SPACE ? SPACE : edge.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}

function classEscape(character: string): string {
  return character.replace(/[\\\]^-]/g, "\\$&");
}
