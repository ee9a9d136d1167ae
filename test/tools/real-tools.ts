/** The tools of real MCP servers, from WARMLOOP_TEST_DATA. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import { testDataFolder } from "../fixture-models.ts";

export type JsonSchema = Readonly<Record<string, unknown>>;

export interface RealTool {
  /** `server/tool`: names alone are not unique. */
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
}

interface Server {
  readonly server: string;
  readonly tools: readonly Omit<RealTool, "id">[];
}

const CATALOGUE = path.join(testDataFolder ?? "", "traces/tools/catalogue.json.gz");

/** Empty without WARMLOOP_TEST_DATA. */
export const realTools: readonly RealTool[] = testDataFolder === undefined ? [] : readCatalogue();

function readCatalogue(): readonly RealTool[] {
  const servers: readonly Server[] = JSON.parse(gunzipSync(readFileSync(CATALOGUE)).toString());
  return servers.flatMap(({ server, tools }) =>
    tools.map((tool) => ({ ...tool, id: `${server}/${tool.name}` })),
  );
}
