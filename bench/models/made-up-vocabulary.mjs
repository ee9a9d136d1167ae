/**
 * A byte-level BPE vocabulary of any size that both engines load: the 256 bytes, all pairs of lower
 * case letters, pairs of pairs, each with its merge; control tokens at the ids that are asked for.
 */

const NORMAL = 1;
const CONTROL = 3;
const LETTERS = [..."abcdefghijklmnopqrstuvwxyz"];

/** The 256 bytes as byte-level vocabularies spell them: printable ones as themselves. */
function byteSpellings() {
  const isPrintable = (byte) =>
    (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xff && byte !== 0xad);
  let next = 256;
  return Array.from({ length: 256 }, (_, byte) =>
    String.fromCodePoint(isPrintable(byte) ? byte : next++),
  );
}

function* mergedPairs(parts) {
  for (const left of parts) for (const right of parts) yield [left, right];
}

/** `controls`: id -> spelling. Returns {tokens, types, merges} with `size` tokens. */
export function madeUpVocabulary(size, controls) {
  const tokens = byteSpellings();
  const types = new Int32Array(size).fill(NORMAL);
  const merges = [];
  const pairs = [...mergedPairs(LETTERS)];
  const words = mergedPairs(pairs.map(([left, right]) => left + right));
  const isControl = () => controls[tokens.length] !== undefined;
  const addControls = () => {
    while (isControl()) {
      types[tokens.length] = CONTROL;
      tokens.push(controls[tokens.length]);
    }
  };
  const add = ([left, right]) => {
    addControls();
    if (tokens.length === size) return;
    tokens.push(left + right);
    merges.push(`${left} ${right}`);
  };
  for (const pair of pairs) add(pair);
  while (tokens.length < size) add(words.next().value);
  return { tokens, types, merges };
}
