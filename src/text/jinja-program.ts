/**
 * A compiled chat template. The library's own `Template.render` fixes some globals (today's date among
 * them), so this runs the parsed program in an environment of its own.
 */

import { Environment, Template } from "@huggingface/jinja";
import { BoundedInterpreter, MAX_ELEMENTS } from "./bounded-interpreter.ts";
import { strftime } from "./strftime.ts";
import { TemplateError } from "./text-errors.ts";

const LITERALS = { true: true, false: false, none: null, True: true, False: false, None: null };

export class JinjaProgram {
  readonly #program: Template["parsed"];

  /** @throws {TemplateError} when the source does not parse */
  constructor(source: string) {
    this.#program = guarded(() => new Template(source).parsed);
  }

  /** @throws {TemplateError} with the message of `raise_exception` or of the failure */
  render(variables: Readonly<Record<string, unknown>>, date: Date): string {
    return guarded(() => {
      const scope = new Environment();
      const globals = {
        ...LITERALS,
        range,
        strftime_now: (format: string) => strftime(format, date),
        raise_exception: (message: string) => {
          throw new TemplateError(message);
        },
      };
      for (const [name, value] of Object.entries({ ...globals, ...variables })) {
        if (value !== undefined) scope.set(name, value);
      }
      return String(new BoundedInterpreter(scope).run(this.#program).value);
    });
  }

  /** Whether the template mentions a variable at all. */
  reads(name: string): boolean {
    return mentions(this.#program, name);
  }
}

function guarded<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof TemplateError) throw error;
    throw new TemplateError(error instanceof Error ? error.message : String(error));
  }
}

/** Python's `range`. */
function range(first: number, second?: number, step = 1): readonly number[] {
  const [from, to] = second === undefined ? [0, first] : [first, second];
  const length = Math.max(0, Math.ceil((to - from) / step));
  if (!(length <= MAX_ELEMENTS))
    throw new TemplateError(`range() of ${length} numbers is too long`);
  return Array.from({ length }, (_, i) => from + i * step);
}

function mentions(node: unknown, name: string): boolean {
  if (typeof node !== "object" || node === null) return false;
  if (node instanceof Map) return [...node].flat().some((child) => mentions(child, name));
  const { type, value } = node as { readonly type?: unknown; readonly value?: unknown };
  if (type === "Identifier" && value === name) return true;
  return Object.values(node).some((child) => mentions(child, name));
}
