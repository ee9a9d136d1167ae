/**
 * Token id -> the bytes it adds to the output. Decoding a stream is a table look-up per token, with
 * no call into the tokenizer library.
 */

import type { TokenizerDefinition } from "./tokenizer-definition.ts";

/** One table row per id; control and reserved tokens have no bytes. */
export function tokenByteTable(definition: TokenizerDefinition): readonly Uint8Array[] {
  const controlIds = new Set(definition.control.map((token) => token.id));
  const encoder = new TextEncoder();
  const spell = definition.spelling === "byte-level" ? byteLevelBytes : sentencePieceBytes;
  return definition.pieces.map((piece, id) => {
    if (controlIds.has(id) || definition.reservedIds.has(id)) return new Uint8Array(0);
    if (definition.literalIds.has(id) && definition.spelling === "byte-level") {
      return encoder.encode(piece);
    }
    return spell(piece) ?? encoder.encode(piece);
  });
}

/** undefined when a character is not of the byte alphabet. */
function byteLevelBytes(piece: string): Uint8Array | undefined {
  const bytes = new Uint8Array(piece.length);
  for (let i = 0; i < piece.length; i++) {
    const byte = BYTE_OF_CHARACTER.get(piece.charCodeAt(i));
    if (byte === undefined) return undefined;
    bytes[i] = byte;
  }
  return bytes;
}

function sentencePieceBytes(piece: string): Uint8Array {
  const hex = /^<0x([0-9A-Fa-f]{2})>$/.exec(piece)?.[1];
  if (hex !== undefined) return Uint8Array.of(Number.parseInt(hex, 16));
  return new TextEncoder().encode(piece.replaceAll("▁", " "));
}

/**
 * GPT-2's byte alphabet: printable Latin-1 stands for itself, the other 68 bytes in ascending order
 * for code points from 256 on. Source: Radford et al. 2019, `bytes_to_unicode`.
 */
const BYTE_OF_CHARACTER: ReadonlyMap<number, number> = (() => {
  const isPrintable = (byte: number): boolean =>
    (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
  const map = new Map<number, number>();
  let next = 256;
  for (let byte = 0; byte < 256; byte++) map.set(isPrintable(byte) ? byte : next++, byte);
  return map;
})();
