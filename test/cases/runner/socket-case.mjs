// A case of kind `ws`: one WebSocket, frames in order.
import { usageBothNames, viewOfEvents } from "./answer-view.mjs";
import { authorization } from "./servers.mjs";
import { expand, parseJson } from "./values.mjs";
import { openSocket } from "./websocket.mjs";

const ENDS = ["response.failed", "response.incomplete", "error"];

/** What came lies in `context.results`. */
export async function runSocketCase(input, context) {
  const waiting = input.send.map(({ $after, ...frame }) => ({
    after: $after,
    text: JSON.stringify(expand(frame, context)),
  }));
  const result = { frames: [], raw: "", closed_before_end: false, error: null };
  const { ended, end } = makeEnd();
  const sendDue = (type) => {
    if (waiting.length > 0 && waiting[0].after === type) socket.send(waiting.shift().text);
  };
  const onText = (text) => {
    result.raw += text;
    const frame = parseJson(text) ?? { unparsable: text };
    result.frames.push(frame);
    if (waiting.length > 0) sendDue(frame.type);
    else if ([input.until, ...ENDS].includes(frame.type)) end();
  };
  const onClose = () => end({ closed_before_end: true });
  const socket = await openResponsesSocket(context, { onText, onClose }, end);
  if (socket !== undefined) {
    while (waiting.length > 0 && waiting[0].after === undefined) sendDue(undefined);
  }
  const timer = setTimeout(() => end({ error: "no end in time" }), context.timeoutS * 1000);
  Object.assign(result, await ended);
  clearTimeout(timer);
  socket?.close();
  const view = viewOfEvents(result.frames);
  const usage = usageBothNames(view.usage);
  Object.assign(context.results, result, view, { events: result.frames, usage });
  context.all.push(context.results);
}

/** A refused upgrade is the end. */
async function openResponsesSocket(context, listeners, end) {
  try {
    const url = `${context.server.url}/v1/responses`;
    return await openSocket(url, authorization(context.server), listeners);
  } catch (error) {
    end({ error: error.message, closed_before_end: true });
    return undefined;
  }
}

/** `ended` is what the first call of `end` says. */
function makeEnd() {
  let end;
  const ended = new Promise((resolve) => {
    end = resolve;
  });
  return { ended, end };
}
