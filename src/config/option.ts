/**
 * One option: the flag `--kv-memory`, the variable `WARMLOOP_KV_MEMORY` and the key `kv-memory` of a
 * --config file. A section is an object of options; its config type follows from it.
 */
import type { Machine } from "./machine.ts";

export interface Option<T> {
  readonly flag: string;
  /** What the value looks like, for --help. */
  readonly placeholder: string;
  /** Meaning and unit. */
  readonly meaning: string;
  /** Default as --help shows it, when the value alone does not say it. */
  readonly defaultText?: string;
  readonly default: T | ((machine: Machine) => T);
  /** Makes the flag's value optional: what it means without one. */
  readonly bareValue?: string;
  /** @throws {InvalidValue} */
  readonly parse: (text: string) => T;
}

export type Section = Readonly<Record<string, Option<unknown>>>;
export type ConfigOf<S> = {
  readonly [K in keyof S]: S[K] extends Option<infer T> ? T : never;
};

/** The value is not one of those the option takes; the message completes `--flag VALUE: ...`. */
export class InvalidValue extends Error {}

/** Fixes T, so that a section keeps the type of each option. */
export function option<T>(spec: Option<T>): Option<T> {
  return spec;
}

export function integer(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^[+-]?\d+$/.test(text.trim()) || value < min || value > max) {
      throw new InvalidValue(`must be a whole number from ${min} to ${max}`);
    }
    return value;
  };
}

const SIZE_UNITS: Readonly<Record<string, number>> = {
  "": 1,
  KIB: 2 ** 10,
  MIB: 2 ** 20,
  GIB: 2 ** 30,
  TIB: 2 ** 40,
  KB: 1e3,
  MB: 1e6,
  GB: 1e9,
  TB: 1e12,
};

/** Bytes: `1GiB`, `512 MiB`, `2GB` or a plain number. */
export function size(minBytes: number, minText: string): (text: string) => number {
  return (text) => {
    const match = /^(\d+(?:\.\d+)?)\s*([a-z]*)$/i.exec(text.trim());
    const unit = SIZE_UNITS[match?.[2]?.toUpperCase() ?? ""];
    const bytes = match && unit !== undefined ? Math.floor(Number(match[1]) * unit) : Number.NaN;
    if (!Number.isSafeInteger(bytes) || bytes < minBytes) {
      throw new InvalidValue(`must be a size of at least ${minText}, such as 512MiB or 1GiB`);
    }
    return bytes;
  };
}

/** One of `values`; `notBuilt` names those that are planned, so that their error says so. */
export function oneOf<const T extends string>(values: readonly T[]): (text: string) => T {
  return (text) => {
    const value = values.find((candidate) => candidate === text);
    if (value !== undefined) return value;
    throw new InvalidValue(`is not known; use one of ${values.join(", ")}`);
  };
}

export function text(value: string): string {
  if (value === "") throw new InvalidValue("must not be empty");
  return value;
}

export function onOff(value: string): boolean {
  if (value === "on" || value === "true") return true;
  if (value === "off" || value === "false") return false;
  throw new InvalidValue("must be on or off");
}

/** Comma-separated texts, without empty ones. */
export function list(value: string): readonly string[] {
  return value
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
}
