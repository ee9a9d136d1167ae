/**
 * What makes a turn cost its new tokens only can be switched off, and the outputs must stay: the same
 * tasks on servers that each lack one of these.
 */
import { openClient } from "./clients.mjs";
import { MODES, runTask } from "./conversation.mjs";
import { OwnServer } from "./target.mjs";

/** Flags of `warmloop serve` by what they switch off. */
export const SWITCHES = {
  "live sequences": ["--live-sequences", "off"],
  "prefix cache": ["--prefix-cache", "off"],
  "delta render": ["--delta-render", "off"],
};

/** Tokens of every turn of the tasks, over one WebSocket each. */
export async function outputsOn(server, tasks, fields) {
  const outputs = [];
  for (const task of tasks) {
    const client = await openClient("websocket", server);
    const withTokens = { ...fields, include: ["message.output_text.logprobs"] };
    const turns = await runTask(task, MODES.websocket, client, {
      fields: withTokens,
      head: "items",
    });
    client.close();
    outputs.push(turns.map(tokensOf));
  }
  return outputs;
}

function tokensOf({ response }) {
  return response.output
    .flatMap((item) => (item.type === "message" ? item.content : []))
    .flatMap(({ logprobs }) => logprobs.map(({ token, logprob }) => ({ token, logprob })));
}

/**
 * Compares all tasks on a server without each of these with a server that has them all, and prints what
 * it found; a difference fails the process.
 * @param fieldsFor request fields for a server
 * @param serverFlags of all servers
 */
export async function checkSwitches(tasks, fieldsFor, serverFlags) {
  const reference = await outputsWith(serverFlags, tasks, fieldsFor);
  for (const [name, flags] of Object.entries(SWITCHES)) {
    const outputs = await outputsWith([...serverFlags, ...flags], tasks, fieldsFor);
    for (const [index, task] of tasks.entries()) {
      const turn = firstDifference(reference[index], outputs[index]);
      const finding = turn === undefined ? "the same tokens" : `turn ${turn + 1} differs`;
      console.log(`${task.name} without ${name}: ${finding}`);
      if (turn !== undefined) process.exitCode = 1;
    }
  }
}

async function outputsWith(flags, tasks, fieldsFor) {
  const server = await OwnServer.start({ numRuns: 1, flags });
  const { apiKey } = server.nextRun();
  const outputs = await outputsOn({ url: server.url, apiKey }, tasks, fieldsFor(server));
  await server.stop();
  return outputs;
}

/** Index of the first turn that is not the same. */
function firstDifference(turns, others) {
  const index = turns.findIndex((turn, at) => JSON.stringify(turn) !== JSON.stringify(others[at]));
  return index < 0 ? undefined : index;
}
