/**
 * Runs a template within bounds. Templates come with model files, and the language can loop over loops
 * and double a list: one such file would hang the server or take all its memory.
 */
import { type Environment, Interpreter, type Template } from "@huggingface/jinja";
import { TemplateError } from "./text-errors.ts";

/** A few seconds of work. The longest conversations that fit a context take a tenth of it. */
const MAX_STEPS = 10_000_000;
/** Of a block: a round of a loop costs that much even when its body is empty. */
const BLOCK_STEPS = 5;
/** Of one list. */
export const MAX_ELEMENTS = 1_000_000;
/** Of one text; that of a whole prompt is much shorter. */
const MAX_CHARACTERS = 64 * 1024 * 1024;

interface RuntimeValue {
  readonly value: unknown;
}

/** The parts of the library's class that all work goes through: nodes, and the blocks of loops. */
interface Evaluator {
  run(program: Template["parsed"]): RuntimeValue;
  evaluate(statement: unknown, environment: Environment): RuntimeValue;
  evaluateBlock(statements: unknown, environment: Environment): RuntimeValue;
}

const LibraryInterpreter: new (scope: Environment) => Evaluator = Interpreter;

export class BoundedInterpreter extends LibraryInterpreter {
  #numSteps = 0;

  override evaluate(statement: unknown, environment: Environment): RuntimeValue {
    this.#spend(1);
    const result = super.evaluate(statement, environment);
    const { value } = result;
    if (Array.isArray(value) && value.length > MAX_ELEMENTS) {
      throw new TemplateError(`it makes a list of more than ${MAX_ELEMENTS} elements`);
    }
    if (typeof value === "string" && value.length > MAX_CHARACTERS) {
      throw new TemplateError(`it makes a text of more than ${MAX_CHARACTERS} characters`);
    }
    return result;
  }

  override evaluateBlock(statements: unknown, environment: Environment): RuntimeValue {
    this.#spend(BLOCK_STEPS);
    return super.evaluateBlock(statements, environment);
  }

  #spend(numSteps: number): void {
    this.#numSteps += numSteps;
    if (this.#numSteps > MAX_STEPS) {
      throw new TemplateError(`it takes more than ${MAX_STEPS} steps`);
    }
  }
}
