/** Loaded in front of the server: a turn with WARMLOOP_TEST_FAULT among its stop strings throws. */
import { EnginePool } from "../../../dist/engine/pool.js";

const runTurn = EnginePool.prototype.runTurn;

EnginePool.prototype.runTurn = function (request, ...rest) {
  if (request.stop.includes(process.env.WARMLOOP_TEST_FAULT)) {
    throw new TypeError("a fault that a test has injected");
  }
  return runTurn.call(this, request, ...rest);
};
