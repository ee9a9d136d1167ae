/**
 * Which tokens end a generation. Files are often incomplete here (Gemma lists only `<eos>`, Qwen-Coder
 * one of two), so well-known texts count as well as declared ids.
 */

const END_TEXTS: ReadonlySet<string> = new Set([
  "<|eot_id|>",
  "<|im_end|>",
  "<|end|>",
  "<|return|>",
  "<|call|>",
  "<end_of_turn>",
  "<|endoftext|>",
  "<|eom_id|>",
  "<EOT>",
  "[EOT]",
  "[EOS]",
  "<|end_of_text|>",
  "<end_of_utterance>",
  "<｜end▁of▁sentence｜>",
  "<turn|>",
  // Fill-in-the-middle separators: after one of them the model is writing another file.
  "<|fim_pad|>",
  "<|repo_name|>",
  "<|file_sep|>",
]);

export function endOfGenerationIds(
  findToken: (text: string) => number | undefined,
  declaredIds: readonly number[],
  vocabSize: number,
): ReadonlySet<number> {
  // In harmony, `<|end|>` closes one message of several; `<|return|>` and `<|call|>` end the turn.
  const isHarmony = ["<|return|>", "<|call|>"].every((text) => findToken(text) !== undefined);
  const ids = new Set(declaredIds.filter((id) => id >= 0 && id < vocabSize));
  for (const text of END_TEXTS) {
    const id = findToken(text);
    if (id !== undefined && !(isHarmony && text === "<|end|>")) ids.add(id);
  }
  return ids;
}
