/** Where the text tests find their data, and a text model of each fixture. */

import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { loadTextModel } from "../../../src/text/load-text-model.ts";
import type { OutputEvent, TextModel } from "../../../src/text/text-types.ts";
import { testDataFolder } from "../../fixture-models.ts";
import { loadGguf, makeInspection } from "./inspections.ts";

export const GOLDEN = path.join(import.meta.dirname, "../../golden");

/** Folder of the shared fixtures; tests that need it skip without it. */
export const FIXTURES = testDataFolder && path.join(testDataFolder, "fixtures");

export function fixtureModels(): readonly string[] {
  return FIXTURES ? readdirSync(path.join(FIXTURES, "models")) : [];
}

export function loadFolder(folder: string): TextModel {
  return loadTextModel(folder, makeInspection({}));
}

/** From the first whole GGUF file of a fixture model; every variant has the same tokenizer. */
export function loadFixtureGguf(name: string): TextModel {
  const folder = path.join(FIXTURES ?? "", "models", name, "gguf");
  const file = readdirSync(folder).find((entry) => !/-of-/.test(entry)) ?? "";
  return loadGguf(path.join(folder, file));
}

export function goldenModel(name: "llama-spm" | "llama3-rope" | "qwen2"): TextModel {
  return loadFolder(path.join(GOLDEN, "tokenizers", name));
}

export function readJson(file: string): unknown {
  return JSON.parse(readFileSync(file, "utf8"));
}

/** Events with neighbouring deltas of one kind joined. */
export function joinEvents(events: readonly OutputEvent[]): readonly OutputEvent[] {
  const joined: OutputEvent[] = [];
  for (const event of events) {
    const last = joined.at(-1);
    if (last && "delta" in last && "delta" in event && last.type === event.type) {
      joined[joined.length - 1] = { ...last, delta: last.delta + event.delta };
    } else {
      joined.push(event);
    }
  }
  return joined;
}

export function textOf(events: readonly OutputEvent[]): string {
  return events.map((event) => (event.type === "text" ? event.delta : "")).join("");
}
