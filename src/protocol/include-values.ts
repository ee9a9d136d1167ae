/** What `include` may ask for, in a request and in a query; values that do not apply change nothing. */
export const ENCRYPTED_REASONING = "reasoning.encrypted_content";
export const LOGPROBS = "message.output_text.logprobs";
export const INCLUDE_VALUES: ReadonlySet<unknown> = new Set([
  ENCRYPTED_REASONING,
  LOGPROBS,
  "message.input_image.image_url",
  "web_search_call.results",
  "web_search_call.action.sources",
  "file_search_call.results",
  "computer_call_output.output.image_url",
  "code_interpreter_call.outputs",
]);
