import { expect, test } from "vitest";
import { codexConfig, codexSteps } from "../../../src/cli/codex-settings.ts";

const facts = { url: "http://127.0.0.1:8080", modelId: 'a"b', contextTokens: 131_072 };

test("names are quoted, and the transport can be chosen", () => {
  const config = codexConfig(facts, "/home/u/catalog.json", false);
  expect(config).toContain('model = "a\\"b"');
  expect(config).toContain('model_catalog_json = "/home/u/catalog.json"');
  expect(config).toContain("supports_websockets = false");
});

test("a small context leaves out what it has no room for, before the first table", () => {
  expect(codexConfig(facts, "/c")).not.toContain("web_search");
  const lines = codexConfig({ ...facts, contextTokens: 8192 }, "/c").split("\n");
  const place = (line: string) => lines.indexOf(line);
  expect(place('web_search = "disabled"')).toBeGreaterThan(place('model_provider = "warmloop"'));
  expect(place('web_search = "disabled"')).toBeLessThan(place("[features]"));
  expect(place("[features]")).toBeLessThan(place("[model_providers.warmloop]"));
});

test("the steps of a server with keys carry the key", () => {
  expect(codexSteps(facts, true, "  ")).toContain('-H "authorization: Bearer $WARMLOOP_KEY"');
  expect(codexSteps(facts, false, "  ")).not.toContain("authorization");
});
