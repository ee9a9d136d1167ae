/**
 * One task in one mode: the loop of an agent, the same for all modes but for how a turn refers to what
 * was said before. All modes have the same items in the same order, so the same prompts.
 */

/** How a mode's turns reach the server, and what they repeat. */
export const MODES = {
  /** Every request has the whole history, the model's own items as they were received. */
  "http-stateless": { transport: "http", isChained: false, store: false },
  /** Every request names the stored response that it goes on from. */
  "http-chained": { transport: "http", isChained: true, store: true },
  /** One socket; every frame names the last response. */
  websocket: { transport: "websocket", isChained: true, store: false },
};

/**
 * @param {{fields: object, head: string, leadingLine?: string}} settings `fields` go into every request; `head` says where instructions and tools stand: as the
 *   first two `items` of the conversation, or as `fields` of every request; `leadingLine` goes in front
 *   of the instructions
 * @returns {Promise<object[]>} of each turn its response, text, usage and times
 */
export async function runTask(task, mode, client, settings) {
  const { fields, head, leadingLine } = settings;
  const instructions = [leadingLine, task.instructions].filter(Boolean).join("\n");
  const { tools } = task;
  const constant = {
    ...fields,
    ...(head === "fields" && { instructions, tools }),
    store: mode.store,
  };
  const history = [];
  const turns = [];
  let newItems = [
    ...(head === "items" ? headItems(instructions, tools) : []),
    userMessage(task.request),
  ];
  let parentId;
  for (const result of [...task.results, undefined]) {
    history.push(...newItems);
    const chain = parentId !== undefined && { previous_response_id: parentId };
    const said = mode.isChained ? { ...chain, input: newItems } : { input: history };
    const answer = await client.respond({ ...constant, ...said });
    const { response } = answer;
    turns.push({ ...answer, text: textOf(response), usage: response.usage });
    history.push(...response.output);
    parentId = response.id;
    newItems = result === undefined ? [] : [userMessage(result)];
  }
  return turns;
}

function headItems(instructions, tools) {
  return [
    { type: "additional_tools", role: "developer", tools },
    { type: "message", role: "developer", content: instructions },
  ];
}

function userMessage(content) {
  return { type: "message", role: "user", content };
}

function textOf({ output }) {
  return output
    .flatMap((item) => (item.type === "message" ? item.content : []))
    .map(({ text }) => text)
    .join("");
}
