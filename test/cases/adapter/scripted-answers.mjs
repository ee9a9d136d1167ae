/**
 * Loaded in front of the server: every turn says the text of WARMLOOP_TEST_SCRIPT, or, where it is a JSON
 * array, the next text of it, and what the model likes after the last. The model still runs and its
 * output is parsed as ever; a grammar with one text in it leaves it no choice.
 */
import { EnginePool } from "../../../dist/engine/pool.js";

const script = process.env.WARMLOOP_TEST_SCRIPT ?? "";
const isList = script.startsWith('["');
const texts = isList ? JSON.parse(script) : [script];
const runTurn = EnginePool.prototype.runTurn;

EnginePool.prototype.runTurn = function (request, ...rest) {
  const saysNothing = request.prefillOnly; // a warmup
  const text = isList && !saysNothing ? texts.shift() : script;
  if (saysNothing || text === undefined) return runTurn.call(this, request, ...rest);
  const grammar = JSON.stringify({ marker: text });
  return runTurn.call(this, { ...request, grammar }, ...rest);
};
