/**
 * Loaded in front of the server: every turn says the text of WARMLOOP_TEST_SCRIPT. The model still
 * runs and its output is parsed as ever; a grammar with one text in it leaves it no choice.
 */
import { EnginePool } from "../../../dist/engine/pool.js";

const grammar = JSON.stringify({ marker: process.env.WARMLOOP_TEST_SCRIPT ?? "" });
const runTurn = EnginePool.prototype.runTurn;

EnginePool.prototype.runTurn = function (request, ...rest) {
  return runTurn.call(this, { ...request, grammar }, ...rest);
};
