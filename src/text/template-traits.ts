/**
 * What a chat template can show, found by rendering small conversations with it once at load.
 * Templates differ in what they accept (system turns in place, roles that do not alternate, arguments
 * as text) and say so only by failing.
 */

import type { JinjaProgram } from "./jinja-program.ts";
import { detectToolFormat, PROBE_NAME } from "./output/detect-format.ts";
import type { ToolFormat } from "./output/output-format.ts";
import { TemplateError } from "./text-errors.ts";

export interface TemplateTraits {
  /** Tools, calls and results are shown. */
  readonly showsTools: boolean;
  /** The tools are, whatever becomes of calls. */
  readonly listsTools: boolean;
  /** undefined: no form of calls that is known. */
  readonly toolFormat: ToolFormat | undefined;
  /** Without tools the template wants an empty list instead of null. */
  readonly needsToolList: boolean;
  /** Every tool must have `parameters.properties`, be it empty. */
  readonly needsToolProperties: boolean;
  /** A system message at the front is shown. */
  readonly leadingSystem: boolean;
  /** A system message between other turns is shown where it stands. */
  readonly systemInPlace: boolean;
  /** Two messages of one role in a row are refused. */
  readonly needsAlternation: boolean;
  /** How `arguments` of a call must be given: as they are, or parsed to an object. */
  readonly callArguments: "text" | "object";
  /** Arguments that are no JSON object can be given as text. */
  readonly takesBrokenArguments: boolean;
  /** A result without a call before it is shown. */
  readonly takesLoneResults: boolean;
  /** Call ids must be nine letters and digits (Mistral's templates check). */
  readonly needsShortCallIds: boolean;
}

type ProbeMessage = Readonly<Record<string, unknown>> & { readonly role: string };

const PROBE_DATE = new Date(0);
const TOOL = {
  type: "function",
  function: {
    name: PROBE_NAME,
    description: "probe-d1",
    parameters: { type: "object", properties: {} },
  },
};
const BARE_TOOL = {
  type: "function",
  function: { name: PROBE_NAME, description: "", parameters: { type: "object" } },
};

export function probeTemplate(
  program: JinjaProgram,
  tokens: Readonly<Record<string, string | undefined>>,
): TemplateTraits {
  const render = (messages: readonly ProbeMessage[], tools: readonly object[] | null): string => {
    const variables = { ...tokens, messages, tools, documents: null, add_generation_prompt: false };
    try {
      return program.render(variables, PROBE_DATE);
    } catch (error) {
      if (error instanceof TemplateError) return "";
      throw error;
    }
  };
  const question = [say("user", "q1")];
  const needsToolList = render(question, null) === "" && render(question, []) !== "";
  const noTools = needsToolList ? [] : null;
  const shows = (...messages: readonly ProbeMessage[]): boolean =>
    appearInOrder(render(messages, noTools), messages);
  const tools = [TOOL];
  const call = (args: unknown, id: string): string =>
    render([say("user", "q1"), callMessage(args, id), resultMessage(id)], tools);
  const needsShortCallIds = call({ k: "v5" }, LONG_ID) === "" && call({ k: "v5" }, SHORT_ID) !== "";
  const id = needsShortCallIds ? SHORT_ID : LONG_ID;
  const asText = call('{"k": "v5"}', id);
  const asObject = call({ k: "v5" }, id);
  return {
    needsToolList,
    needsToolProperties: render(question, [BARE_TOOL]) === "" && render(question, tools) !== "",
    toolFormat: detectToolFormat(asText) ?? detectToolFormat(asObject),
    showsTools: program.reads("tools") && [asText, asObject].some((text) => text.includes("v5")),
    listsTools: render(question, tools).includes("probe-d1"),
    leadingSystem: shows(say("system", "s1"), say("user", "q1")),
    systemInPlace: shows(
      say("system", "s1"),
      say("user", "q1"),
      say("assistant", "r1"),
      say("system", "s2"),
      say("user", "q2"),
    ),
    needsAlternation: !shows(say("user", "q1"), say("user", "q2")),
    callArguments: asText.includes('{"k": "v5"}') ? "text" : "object",
    takesBrokenArguments: call("b6", id).includes("b6"),
    takesLoneResults: render([say("user", "q1"), resultMessage(id)], tools).includes("probe-t1"),
    needsShortCallIds,
  };
}

const SHORT_ID = "call00001";
const LONG_ID = "call_0123456789abcdef";

function say(role: string, text: string): ProbeMessage {
  return { role, content: `probe-${text}` };
}

function callMessage(args: unknown, id: string): ProbeMessage {
  const call = { id, type: "function", function: { name: PROBE_NAME, arguments: args } };
  return { role: "assistant", content: "", tool_calls: [call] };
}

function resultMessage(id: string): ProbeMessage {
  return { role: "tool", content: "probe-t1", tool_call_id: id, name: PROBE_NAME };
}

function appearInOrder(rendered: string, messages: readonly ProbeMessage[]): boolean {
  let from = 0;
  return messages.every(({ content }) => {
    const at = rendered.indexOf(String(content), from);
    from = at + 1;
    return at >= 0;
  });
}
