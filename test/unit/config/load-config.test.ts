import { describe, expect, test } from "vitest";
import { ExitError } from "../../../src/base/exit-error.ts";
import { type ConfigSources, loadConfig } from "../../../src/config/load-config.ts";

const MACHINE = { cpus: 2.5, memoryBytes: 8 * 2 ** 30 };

function load(sources: Partial<ConfigSources>) {
  return loadConfig({ flags: {}, env: {}, machine: MACHINE, ...sources });
}

function messageOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (!(error instanceof ExitError)) throw error;
    expect(error.exitCode).toBe(2);
    return error.message;
  }
  throw new Error("expected a usage error");
}

describe("loadConfig", () => {
  test("defaults: loopback, port 8080, whole CPUs that the process may use", () => {
    const config = load({});
    expect(config.server).toMatchObject({ host: "127.0.0.1", port: 8080, corsOrigins: [] });
    expect(config.engine).toMatchObject({ threads: 2, kvMemoryBytes: "auto", kvType: "f16" });
    expect(config.model.modelsDir).toMatch(/\/\.cache\/warmloop\/models$/);
  });

  test("a fraction of a CPU still gives one thread", () => {
    expect(load({ machine: { ...MACHINE, cpus: 0.4 } }).engine.threads).toBe(1);
  });

  test("flag wins over environment over file over default", () => {
    const sources = {
      env: { WARMLOOP_PORT: "2", WARMLOOP_CTX: "2000", WARMLOOP_CONFIG: "c.json" },
      readFile: () => JSON.stringify({ port: 3, ctx: 3000, threads: 3 }),
    };
    const config = load({ flags: { port: "1" }, ...sources });
    expect(config.server.port).toBe(1);
    expect(config.engine.maxContextTokens).toBe(2000);
    expect(config.engine.threads).toBe(3);
  });

  test("sections are frozen", () => {
    const { server } = load({});
    expect(Object.isFrozen(server)).toBe(true);
  });

  test.each([
    ["1GiB", 2 ** 30],
    ["512 MiB", 2 ** 29],
    ["2GB", 2e9],
    ["1.5gib", 1.5 * 2 ** 30],
    ["2097152", 2 ** 21],
  ])("a size of %s", (text, bytes) => {
    expect(load({ flags: { "kv-memory": text } }).engine.kvMemoryBytes).toBe(bytes);
  });

  test("lists are comma-separated in a flag and may be arrays in a file", () => {
    const expected = ["http://a", "http://b"];
    expect(load({ flags: { "cors-origins": "http://a, http://b" } }).server.corsOrigins).toEqual(
      expected,
    );
    const readFile = () => JSON.stringify({ "cors-origins": expected });
    const { server } = load({ flags: { config: "c.json" }, readFile });
    expect(server.corsOrigins).toEqual(expected);
  });

  test("the cache folder follows the flag, its variable and XDG_CACHE_HOME", () => {
    expect(load({ env: { XDG_CACHE_HOME: "/c" } }).model.modelsDir).toBe("/c/warmloop/models");
    expect(load({ env: { WARMLOOP_MODELS_DIR: "/m" } }).model.modelsDir).toBe("/m");
  });

  test("HF_ENDPOINT names the hub", () => {
    expect(load({ env: { HF_ENDPOINT: "http://hub/" } }).model.hubUrl).toBe("http://hub");
  });

  test.each(["hub", "ftp://hub", "http://user:secret@hub", "http://hub?a=b"])(
    "HF_ENDPOINT %s is a usage error that does not show it",
    (value) => {
      const message = messageOf(() => load({ env: { HF_ENDPOINT: value } }));
      expect(message).toContain("HF_ENDPOINT must be");
      expect(message).not.toContain("secret");
    },
  );

  test("HF_TOKEN is trimmed; one that no header can carry is not shown", () => {
    expect(load({ env: { HF_TOKEN: " hf_abc\n" } }).model.hubToken).toBe("hf_abc");
    expect(load({ env: { HF_TOKEN: "" } }).model.hubToken).toBeUndefined();
    expect(messageOf(() => load({ env: { HF_TOKEN: "hf_a\nb" } }))).not.toContain("hf_a");
  });

  test.each([
    ["ctx", "1"],
    ["ctx", "-5"],
    ["ctx", "99999999999"],
    ["ctx", "12.5"],
    ["threads", "0"],
    ["threads", "many"],
    ["kv-memory", "0"],
    ["kv-memory", "1XiB"],
    ["kv-memory", "-1GiB"],
    ["port", "70000"],
    ["port", ""],
    ["kv-type", "q3"],
    ["isa", "sse2"],
    ["activations", "4"],
    ["quantize", "q6_k"],
    ["log-level", "loud"],
    ["prefix-cache", "maybe"],
    ["model", ""],
  ])("--%s %s is a usage error that names the flag", (flag, value) => {
    expect(messageOf(() => load({ flags: { [flag]: value } }))).toContain(`--${flag} ${value}: `);
  });

  test("an unknown variable or key is an error that names it", () => {
    expect(messageOf(() => load({ env: { WARMLOOP_PROT: "1" } }))).toContain("WARMLOOP_PROT");
    const readFile = () => JSON.stringify({ prot: 1 });
    expect(messageOf(() => load({ flags: { config: "c.json" }, readFile }))).toContain('"prot"');
  });

  test("a wrong value says which source it came from", () => {
    const message = messageOf(() => load({ env: { WARMLOOP_PORT: "x" } }));
    expect(message).toMatch(/--port x \(from WARMLOOP_PORT\)/);
  });

  test("variables of tests and empty ones are left alone", () => {
    expect(load({ env: { WARMLOOP_TEST_DATA: "/x", WARMLOOP_PORT: "" } }).server.port).toBe(8080);
  });

  test("a config file that is not an object of options is an error", () => {
    const withFile = (text: string) => () =>
      load({ flags: { config: "c.json" }, readFile: () => text });
    expect(messageOf(withFile("[1]"))).toContain("one JSON object");
    expect(messageOf(withFile("{"))).toContain("cannot be read as JSON");
    expect(messageOf(withFile('{"port":{}}'))).toContain('"port"');
  });

  test("another host than loopback needs keys", () => {
    expect(messageOf(() => load({ flags: { host: "0.0.0.0" } }))).toContain("--api-keys");
    expect(load({ flags: { host: "0.0.0.0", "api-keys": "k" } }).server.host).toBe("0.0.0.0");
    for (const host of ["localhost", "127.0.0.2", "::1"]) load({ flags: { host } });
  });
});
