/** A recorded session through a lane: what every turn cost beyond what was new in it. */
import { Lane } from "./lane-client.mjs";

const FIELDS = { max_output_tokens: 1, temperature: 0, store: false };

/**
 * `{turns, reconnect, fork}`: the costs of each turn (see `costsOf`), of a new socket that sends the whole
 * history in front of the last turn, and of another lane that leaves from the middle.
 */
export async function replay(server, { lead, turns: additions }) {
  const lane = await Lane.open(server, FIELDS);
  const turns = [];
  const history = [];
  let parent;
  let fork;
  const middle = additions.length >> 1;
  for (const [index, added] of additions.entries()) {
    const input = index === 0 ? [...lead, ...added] : added;
    const turn = await lane.turn(input, parent && { previous_response_id: parent.response.id });
    turns.push(costsOf(turn, parent));
    if (index === middle && parent !== undefined) {
      const branch = { previous_response_id: parent.response.id, stream_id: "fork" };
      fork = costsOf(await lane.turn(input, branch), parent);
    }
    history.push(...input, ...turn.response.output.map(asInput));
    parent = turn;
  }
  lane.close();
  return { turns, fork, reconnect: await reconnect(server, history, parent) };
}

/** What a client does that lost its socket. */
async function reconnect(server, history, parent) {
  const lane = await Lane.open(server, FIELDS);
  const question = { type: "message", role: "user", content: "Go on." };
  const turn = await lane.turn([...history, question]);
  lane.close();
  return costsOf(turn, parent);
}

function asInput({ id: _id, status: _status, ...item }) {
  return item;
}

/** `new`: tokens behind the parent's; the rest is what was paid for in excess of them, or in all. */
function costsOf({ response, inputBytes, frameBytes, ...counters }, parent) {
  const { input_tokens: context, input_tokens_details: details } = response.usage;
  const parentUsage = parent?.response.usage;
  const kept = parentUsage ? parentUsage.input_tokens + parentUsage.output_tokens : 0;
  const numNew = context - kept;
  return {
    context,
    new: numNew,
    envelopeBytes: frameBytes - inputBytes,
    rendered: counters.rendered - numNew,
    tokenized: counters.tokenized - numNew,
    hashed: counters.hashed - numNew,
    prefilled: counters.prefilled - numNew,
    submitMs: counters.submitSeconds * 1000,
    deliveryMs: counters.deliverySeconds * 1000,
    missReason: details.miss_reason ?? null,
  };
}
