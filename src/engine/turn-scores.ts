/**
 * The log probabilities of one turn as the engine reports them: those of the output's tokens as scores for
 * its decoder, those of the prompt's, once they are all there, as the prompt's text with them.
 */
import { FINISH_REASONS, type StepEvents } from "../native/addon-types.ts";
import type { OutputDecoder, OutputEvent, TokenScore } from "../text/text-types.ts";

/** News of one step. */
export interface StepScores {
  /** The prompt's text, before the first token of the output. */
  readonly promptEvents: readonly OutputEvent[];
  /** One for each token of the step. */
  readonly scores: readonly TokenScore[];
}

export interface ScoredPrompt {
  readonly tokens: Int32Array;
  readonly decoder: OutputDecoder;
}

export class TurnScores {
  readonly #rowLength: number;
  readonly #prompt: ScoredPrompt | undefined;
  /** Nothing stands before the first token. */
  readonly #promptScores: TokenScore[] = [{ logprob: null, top: [] }];
  #hasPrompt = false;

  /** @param prompt when its text and scores are wanted */
  constructor(numTop: number, prompt: ScoredPrompt | undefined) {
    this.#rowLength = 1 + numTop;
    this.#prompt = prompt;
  }

  /** Event `index` of a step is about this turn. */
  read(step: StepEvents, index: number): StepScores {
    const numTokens = (step.tokenStart[index + 1] as number) - (step.tokenStart[index] as number);
    const rows = this.#rows(step, index);
    const numPromptRows = rows.length - numTokens;
    this.#promptScores.push(...rows.slice(0, numPromptRows));
    return {
      promptEvents: numTokens > 0 || isComplete(step, index) ? this.#promptEvents() : [],
      scores: rows.slice(numPromptRows),
    };
  }

  #rows(step: StepEvents, index: number): readonly TokenScore[] {
    const end = step.logprobsStart[index + 1] as number;
    const rows: TokenScore[] = [];
    for (let at = step.logprobsStart[index] as number; at < end; at += this.#rowLength) {
      const top = Array.from({ length: this.#rowLength - 1 }, (_, rank) => ({
        id: step.logprobTokens[at + 1 + rank] as number,
        logprob: step.logprobs[at + 1 + rank] as number,
      }));
      rows.push({ logprob: step.logprobs[at] as number, top });
    }
    return rows;
  }

  #promptEvents(): readonly OutputEvent[] {
    if (this.#prompt === undefined || this.#hasPrompt) return [];
    this.#hasPrompt = true;
    const { tokens, decoder } = this.#prompt;
    return [...decoder.push(tokens, this.#promptScores), ...decoder.finish()];
  }
}

/** The turn ended with all rows of its prompt. */
function isComplete(step: StepEvents, index: number): boolean {
  const finish = FINISH_REASONS[step.finish[index] as number];
  return finish === "stop" || finish === "length" || finish === "prefilled";
}
