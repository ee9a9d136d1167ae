/**
 * The prompt of a completion: what the client sent, not what a template made of it. BOS comes in front
 * by the tokenizer's own rule, once; special-token literals are text unless the client asks for them.
 */
import { invalidRequest } from "../protocol/api-error.ts";
import type { CompletionPrompt } from "../protocol/completion-types.ts";
import type { TextModel } from "../text/text-types.ts";
import type { Prompt } from "./prompt-builder.ts";
import { TokenList } from "./token-list.ts";

/** @throws {ApiError} invalid_value for a prompt without tokens, or with ids that the model lacks */
export async function rawPrompt(
  prompt: CompletionPrompt,
  { tokenizer }: Pick<TextModel, "tokenizer">,
  vocab: number,
): Promise<Prompt> {
  const isText = "text" in prompt;
  const { path } = prompt;
  if (!isText) checkIds(prompt.tokenIds, vocab, path);
  const ids = isText
    ? await tokenizer.encodePlainAsync(prompt.text, {
        parseSpecial: prompt.parseSpecial,
        addBos: true,
      })
    : Int32Array.from(prompt.tokenIds);
  if (ids.length === 0) throw invalidRequest("invalid_value", `${path} has no tokens`, path);
  return {
    tokens: TokenList.from(ids),
    ending: "",
    numKeptTokens: 0,
    numRenderedTokens: 0,
    numTokenizedTokens: isText ? ids.length : 0,
  };
}

/** The prompt as text, for an answer that repeats it. */
export function promptText(prompt: CompletionPrompt, textModel: TextModel): string {
  if ("text" in prompt) return prompt.text;
  const decoder = textModel.createOutputDecoder({ stop: [] });
  const events = [...decoder.push(Int32Array.from(prompt.tokenIds)), ...decoder.finish()];
  return events.map((event) => (event.type === "text" ? event.delta : "")).join("");
}

function checkIds(ids: readonly number[], vocab: number, path: string): void {
  const index = ids.findIndex((id) => id < 0 || id >= vocab);
  if (index < 0) return;
  const field = `${path}[${index}]`;
  const message = `${field} is ${ids[index]}, this model has the token ids 0 to ${vocab - 1}`;
  throw invalidRequest("invalid_value", message, field);
}
