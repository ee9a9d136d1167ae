/**
 * The turns that most agents take: what a template does with them can be known before the first one
 * comes, and does not hold it up then.
 */
import type { CallableTool, ContextItem } from "../protocol/responses-types.ts";
import type { DeltaRequest } from "./delta-renderer.ts";
import { probeCall, say, SHORT_TOOL } from "./probe-items.ts";

const QUESTION = say("user", "A question?");
const ANSWER = say("assistant", "An answer.");
const THOUGHT: ContextItem = { type: "reasoning", text: "A thought." };
const [CALL, RESULT] = probeCall("call_a");
const [SECOND_CALL, SECOND_RESULT] = probeCall("call_b");

/** @param thinks its model may think in front of an answer */
export function commonTurns(thinks: boolean): readonly DeltaRequest[] {
  const tools = [SHORT_TOOL];
  const spoken = [turn([], [ANSWER], [QUESTION]), turn(tools, [ANSWER], [QUESTION])];
  const calls: readonly (readonly ContextItem[])[] = [[CALL], [ANSWER, CALL]];
  const thoughtCalls = thinks ? calls.map((output) => [THOUGHT, ...output]) : [];
  return [
    ...spoken,
    ...[...calls, ...thoughtCalls].map((output) => turn(tools, output, [RESULT])),
    turn(tools, [CALL, SECOND_CALL], [RESULT, SECOND_RESULT]),
  ];
}

function turn(
  tools: readonly CallableTool[],
  output: readonly ContextItem[],
  added: readonly ContextItem[],
): DeltaRequest {
  const head = { instructions: null, tools, date: new Date(0), reasoningEffort: undefined };
  const items = [QUESTION, ...output];
  const parent = { head, items, numPromptItems: 1, generation: "whole" as const };
  return { head, parent, items: [...items, ...added], addGenerationPrompt: true };
}
