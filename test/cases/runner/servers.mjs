// The server of a case: the one that was given, or those that an adapter starts.
import path from "node:path";
import { getText } from "./exchange.mjs";
import { Skip } from "./skip.mjs";
import { expand, fail, parseJson } from "./values.mjs";

/** One started server at a time: two models on one machine would disturb each other's times. */
export function makeServers({ url, model, apiKey, adapter, vars, dataFolder }) {
  let started;
  const stop = async () => {
    await started?.server.stop();
    started = undefined;
  };
  const expandFlag = (flag) => resolveShared(expand(flag, { vars }), dataFolder);
  const get = async (spec = {}) => {
    const isPlain = Object.keys(spec).length === 0;
    if (isPlain && url) return { url, model, apiKey };
    const flags = (spec.flags ?? []).map(expandFlag);
    if (!adapter?.start) throw new Skip(`needs adapter: ${describeServer(spec)}`);
    const key = JSON.stringify(spec);
    if (started?.key === key) return started.server;
    await stop();
    const { script, script_no_eos } = spec;
    const server = await adapter.start({ flags, script, script_no_eos, env: {} });
    if (server.skip) throw new Skip(server.skip);
    started = { key, server };
    // The key is that of $KEYS, needless to a server without keys.
    server.model ??= await firstModel(server.url, vars.KEY1);
    return server;
  };
  return { get, stop };
}

/** `shared:` begins the path of a file that is not ours to publish. @throws {Skip} without `dataFolder` */
function resolveShared(flag, dataFolder) {
  const [, file] = /^shared:(.+)$/.exec(flag) ?? [];
  if (file === undefined) return flag;
  if (dataFolder === undefined) throw new Skip(`needs ${file} of WARMLOOP_TEST_DATA`);
  return path.join(dataFolder, file);
}

function describeServer({ flags = [], ...hooks }) {
  const wanted = [...flags.filter((flag) => flag.startsWith("--")), ...Object.keys(hooks)];
  return wanted.join(" ") || "a server";
}

/** The first model that a server lists. */
export async function firstModel(url, apiKey) {
  const { text, status, error } = await getText(
    `${url}/v1/models`,
    5000,
    authorization({ apiKey }),
  );
  return (
    parseJson(text)?.data?.[0]?.id ??
    fail(`no model id at ${url}/v1/models (status ${status} ${error ?? ""}); give --model`)
  );
}

export const authorization = ({ apiKey }) => (apiKey ? { authorization: `Bearer ${apiKey}` } : {});
