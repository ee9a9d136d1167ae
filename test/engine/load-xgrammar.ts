/** Loads @mlc-ai/web-xgrammar, which is made for browsers, on Node, and spells tokens for it. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import vm from "node:vm";
import type * as XGrammar from "@mlc-ai/web-xgrammar";

/** An instance of its own: a schema that the library does not support ends the instance. */
export function loadXGrammar(): typeof XGrammar {
  const require = createRequire(import.meta.url);
  const filename = require.resolve("@mlc-ai/web-xgrammar");
  const module: { exports: object } = { exports: {} };
  const parameters = ["exports", "require", "module", "__filename", "__dirname"];
  const run = vm.compileFunction(readFileSync(filename, "utf8"), parameters, {
    filename,
    importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  run.call(module.exports, module.exports, require, module, filename, path.dirname(filename));
  return module.exports as typeof XGrammar;
}

/** GPT-2's printable alphabet: bytes that are no visible Latin-1 character come behind U+0100. */
export function byteLevelText(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => BYTE_CHARACTERS[byte]).join("");
}

const BYTE_CHARACTERS = byteCharacters();

function byteCharacters(): readonly string[] {
  const isVisible = (byte: number) =>
    (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xff && byte !== 0xad);
  let numOthers = 0;
  return Array.from({ length: 256 }, (_, byte) =>
    String.fromCharCode(isVisible(byte) ? byte : 0x100 + numOthers++),
  );
}
