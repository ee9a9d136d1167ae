import { describe, expect, test } from "vitest";
import { parseResponsesRequest } from "../../../src/protocol/responses-request.ts";
import { type RecordedRequest, recordedRequests } from "../../recorded-requests.ts";
import { outcomeOf } from "./outcome-of.ts";

const recorded = recordedRequests();

/** Only a text-only model has to refuse anything, and only what a user shows it. */
function expectedOutcome({ body }: RecordedRequest): RegExp {
  const messages = (Array.isArray(body.input) ? body.input : []).filter(({ role }) => role);
  return JSON.stringify(messages).includes('"input_image"')
    ? /^400 unsupported_content input\[\d+\]\.content\[\d+\]$/
    : /^accepted$/;
}

/** A summary of another server cannot be read here. */
function isCompaction({ body }: RecordedRequest): boolean {
  return JSON.stringify(body.input).includes('"type":"compaction"');
}

describe.skipIf(recorded.size === 0)("recorded requests (WARMLOOP_TEST_DATA)", () => {
  test.each([...recorded])("of %s are accepted", (_, requests) => {
    expect(requests.length).toBeGreaterThan(2);
    for (const request of requests.filter((one) => !isCompaction(one))) {
      const parse = () => parseResponsesRequest(request.body, request.transport);
      expect(outcomeOf(parse), JSON.stringify(request.body.input)).toMatch(
        expectedOutcome(request),
      );
    }
  });
});
