/** A recorded session through a lane: what every turn cost beyond what was new in it. */
import { Lane } from "./lane-client.mjs";

/**
 * `{turns, fork, lateFork, reconnect}`: the costs of each turn (see `costsOf`), of another lane that leaves
 * from the middle before and after the first one went on, and of a new socket that sends everything
 * when the session is over.
 * @param answerId the token that every answer consists of
 */
export async function replay(server, { lead, turns: additions }, answerId) {
  const fields = {
    ...{ max_output_tokens: 1, store: false },
    logit_bias: { [answerId]: 100 },
  };
  const lane = await Lane.open(server, fields);
  const turns = [];
  const history = [];
  let parent;
  let [fork, lateFork] = [];
  const middle = Math.max(1, additions.length >> 1);
  for (const [index, added] of additions.entries()) {
    const input = index === 0 ? [...lead, ...added] : added;
    const chain = parent && { previous_response_id: parent.response.id };
    if (index === middle)
      fork = costsOf(await lane.turn(input, { ...chain, stream_id: "a" }), parent);
    const turn = await lane.turn(input, chain);
    turns.push(costsOf(turn, parent));
    if (index === middle) {
      lateFork = costsOf(await lane.turn(input, { ...chain, stream_id: "b" }), parent);
    }
    history.push(...input, ...turn.response.output.map(asInput));
    parent = turn;
  }
  lane.close();
  return { turns, fork, lateFork, reconnect: await reconnect(server, fields, history, parent) };
}

/** What a client does that lost its socket. */
async function reconnect(server, fields, history, parent) {
  const lane = await Lane.open(server, fields);
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
