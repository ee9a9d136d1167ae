/**
 * `warmloop serve`, second half: wires the concrete parts. Listens first, so that health and
 * readiness answer while the model is fetched and loaded; a failure on the way closes what was open.
 */
import { readFileSync } from "node:fs";
import { type Logger, pino } from "pino";
import { ExitError, usageError } from "../base/exit-error.ts";
import { systemClock } from "../base/clock.ts";
import type { Config } from "../config/load-config.ts";
import { EnginePool } from "../engine/pool.ts";
import { createGateway } from "../gateway/gateway.ts";
import { createMetrics, type Metrics } from "../metrics/metrics.ts";
import { fetchModel } from "../models/fetch-model.ts";
import { type ResolvedModel, weightBytesAt } from "../models/resolve-model.ts";
import type { EngineOptions, ModelInspection } from "../native/addon-types.ts";
import { loadAddon } from "../native/load-addon.ts";
import { chooseWorker } from "../router/score.ts";
import { ComposePool } from "../session/compose-pool.ts";
import { createSessionService } from "../session/session-service.ts";
import type { SessionService } from "../session/session-types.ts";
import { type LoadTextModelOptions, loadTextModel } from "../text/load-text-model.ts";
import { TextModelError } from "../text/text-errors.ts";
import type { TextModel } from "../text/text-types.ts";
import { openApiKeys, reloadOnHangup } from "./api-key-file.ts";
import { fetchOptions } from "./fetch-options.ts";
import { leastKvBytes } from "./kv-needs.ts";
import { planKvFor } from "./memory-plan.ts";
import { openStore, storeLimits } from "./open-store.ts";
import { readyMessage } from "./ready-message.ts";
import { drainOnSignal } from "./shutdown.ts";

export async function startServer(config: Config, model: ResolvedModel): Promise<void> {
  const modelId = config.model.alias ?? model.id;
  const logger = createLogger(config);
  const metrics = createMetrics({ modelId });
  const store = openStore(config, logger);
  const gateway = createGateway(gatewayOptions(config, metrics, logger));
  const { url } = await gateway.listen();

  let session: SessionService | undefined;
  let composer: ComposePool | undefined;
  let pool: EnginePool | undefined;
  const closeAll = async (): Promise<void> => {
    await session?.close();
    await composer?.close();
    await pool?.close();
    await gateway.close();
  };
  drainOnSignal(async () => {
    await gateway.drain(config.server.drainSeconds * 1000);
    await closeAll();
  });

  try {
    const modelPath = await fetchModel(model, fetchOptions(config));
    const inspection = inspectLoadable(modelPath);
    const options = templateOptions(config);
    const textModel = openTextModel(modelPath, inspection, options, config);
    if (textModel.chatWarning !== undefined) logger.warn(textModel.chatWarning);
    pool = await openPool(modelPath, inspection, config, logger);
    const { deltaRender } = config.server;
    composer = new ComposePool({ modelPath, deltaRender, ...options });
    session = createSessionService({
      modelId,
      textModel,
      composer,
      deltaRender,
      endpoint: pool,
      metrics,
      clock: systemClock,
      reasoningForm: config.server.reasoning,
      echo: config.server.echo,
      keepsLiveSequences: config.engine.keepsLiveSequences,
      ...store,
      storeLimits: storeLimits(config),
      reportError: (error) => logger.error(error, "a run failed"),
    });
  } catch (error) {
    await closeAll();
    throw error;
  }
  gateway.setReady(session);
  const { contextTokens } = session;
  const needsKey = config.server.apiKeysFile !== undefined;
  process.stdout.write(readyMessage({ url, modelId, contextTokens, needsKey }));
}

function gatewayOptions(
  { server }: Config,
  metrics: Metrics,
  logger: Logger,
): Parameters<typeof createGateway>[0] {
  const { host, port, corsOrigins, apiKeysFile, isWebSocketEnabled, maxConnections } = server;
  const { sendsDone } = server;
  const limits = { maxConnections };
  const options = {
    host,
    port,
    corsOrigins,
    isWebSocketEnabled,
    sendsDone,
    limits,
    metrics,
    logger,
  };
  if (apiKeysFile === undefined) return options;
  const apiKeys = openApiKeys(apiKeysFile);
  reloadOnHangup(apiKeys, apiKeysFile, logger);
  return { ...options, apiKeys };
}

/** Lines of JSON on stderr: stdout is for the ready line. */
function createLogger({ log }: Config): Logger {
  return pino({ level: log.level }, pino.destination(2));
}

/** @throws {ExitError} modelFile, when the engine would refuse the model */
function inspectLoadable(modelPath: string): ModelInspection {
  const inspection = loadAddon().inspectModel(modelPath);
  const [first] = inspection.refusals;
  if (first !== undefined) throw new ExitError("modelFile", `${first.code}: ${first.message}`);
  return inspection;
}

/** @throws {ExitError} usage */
function templateOptions({ model }: Config): LoadTextModelOptions {
  const file = model.chatTemplateFile;
  if (file === undefined) return {};
  try {
    return { chatTemplate: readFileSync(file, "utf8") };
  } catch (error) {
    throw usageError(`--chat-template ${file}: ${(error as Error).message}`);
  }
}

function openTextModel(
  modelPath: string,
  inspection: ModelInspection,
  options: LoadTextModelOptions,
  { model }: Config,
): TextModel {
  try {
    return loadTextModel(modelPath, inspection, options);
  } catch (error) {
    const isModelsFault = options.chatTemplate === undefined || error instanceof TextModelError;
    if (isModelsFault) throw error;
    throw usageError(`--chat-template ${model.chatTemplateFile}: ${(error as Error).message}`);
  }
}

function openPool(
  modelPath: string,
  { context }: ModelInspection,
  config: Config,
  logger: Logger,
): Promise<EnginePool> {
  const { engine } = config;
  const leastKv = leastKvBytes(modelPath, context, engine);
  const options: EngineOptions = {
    modelPath,
    threads: engine.threads,
    isa: engine.isa,
    activations: engine.activations,
    quantize: engine.quantize,
    kvType: engine.kvType,
    kvMemoryBytes: planKvFor(config, weightBytesAt(modelPath), leastKv),
    maxContextTokens: engine.maxContextTokens ?? 0,
    maxBatchTokens: engine.maxBatchTokens,
    maxRunning: engine.maxRunning,
    maxQueued: engine.maxQueued,
    maxPrefillChunk: engine.maxPrefillChunk,
    enablePrefixCache: engine.enablePrefixCache,
  };
  return EnginePool.create({
    engines: engine.numEngines,
    engine: options,
    chooseWorker,
    onFailure: (failure) => logger.error(failure, "an engine worker failed"),
  });
}
