import { mkdtempSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { TINY_MODEL } from "../fixture-models.ts";
import { MAIN, runCli } from "./cli-process.ts";

const folder = mkdtempSync(path.join(tmpdir(), "warmloop-exit-"));

function makeFile(name: string, content: string | Buffer): string {
  const file = path.join(folder, name);
  writeFileSync(file, content);
  return file;
}

describe("a start that cannot be ends with one line and its code", () => {
  test.each([
    ["--ctx", "1"],
    ["--ctx", "-5"],
    ["--ctx", "99999999999"],
    ["--threads", "0"],
    ["--kv-memory", "0"],
    ["--port", "70000"],
    ["--kv-type", "q3"],
    ["--no-such-flag", "1"],
  ])("%s %s: usage, 2", async (flag, value) => {
    const { exitCode, stderr } = await runCli(["serve", "--port", "0", flag, value]);
    expect(stderr).toContain(flag);
    expect(stderr.trim().split("\n")).toHaveLength(1);
    expect(exitCode).toBe(2);
  });

  test("an unknown variable: usage, 2", async () => {
    const { exitCode, stderr } = await runCli(["serve"], { env: { WARMLOOP_PROT: "1" } });
    expect(stderr).toContain("WARMLOOP_PROT");
    expect(exitCode).toBe(2);
  });

  test("an unknown command: usage, 2", async () => {
    const { exitCode, stderr } = await runCli(["sevre"]);
    expect(stderr).toContain("sevre");
    expect(exitCode).toBe(2);
  });

  test.each([
    ["no file", "no-such-file.gguf", /no such file/],
    [
      "a pointer of a git clone",
      makeFile("pointer.gguf", "version https://git-lfs.github.com/spec/v1\n"),
      /LFS/,
    ],
    ["a web page", makeFile("page.gguf", "<!doctype html><title>Login</title>"), /HTML/],
    ["an empty file", makeFile("empty.gguf", ""), /empty/],
  ])("%s: model file, 3", async (_what, file, message) => {
    const { exitCode, stderr } = await runCli(["serve", "--port", "0", "--model", file]);
    expect(stderr).toMatch(message);
    expect(exitCode).toBe(3);
  });

  test("bytes of a damaged file never reach the terminal", async () => {
    const file = makeFile("raw.gguf", Buffer.from("1b5d303b7465737407ff00ffd9", "hex"));
    const { exitCode, stderr } = await runCli(["serve", "--port", "0", "--model", file]);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
    expect(stderr).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f]/);
    expect(exitCode).toBe(3);
  });

  test.each([
    ["that is not there", "no-such.jinja", /no-such\.jinja.*no such file/],
    ["that does not parse", makeFile("broken.jinja", "{% for %}"), /broken\.jinja/],
  ])("a chat template %s: usage, 2", async (_what, file, message) => {
    const args = ["serve", "--port", "0", "--model", TINY_MODEL, "--chat-template", file];
    const { exitCode, stderr } = await runCli(args);
    expect(stderr).toMatch(message);
    expect(exitCode).toBe(2);
  });

  test("KV memory that cannot be: 3, and what would fit", async () => {
    const { exitCode, stderr } = await runCli(["serve", "--port", "0", "--kv-memory", "900TiB"]);
    expect(stderr).toMatch(/memory.*MiB.*would fit/);
    expect(exitCode).toBe(3);
  });

  test("memory that the system does not give: 3, and for what", async () => {
    // The plan sees no limit of a process: the engine is refused what it asks for.
    const limited = ["prlimit", `--data=${512 * 2 ** 20}`, process.execPath, MAIN] as const;
    const options = ["--model", TINY_MODEL, "--threads", "1", "--kv-memory", "1GiB"];
    const args = ["serve", "--port", "0", "--log-level", "silent", ...options];
    const { exitCode, stderr } = await runCli(args, { command: limited });
    expect(stderr).toMatch(/^warmloop: ERR_MODEL_MEMORY: no memory for .*\n$/);
    expect(exitCode).toBe(3);
  });

  test("a port that is taken: 6", async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const { port } = other.address() as { port: number };
    try {
      const { exitCode, stderr } = await runCli(["serve", "--port", String(port)]);
      expect(stderr).toMatch(new RegExp(`${port}.*--port`));
      expect(exitCode).toBe(6);
    } finally {
      other.close();
    }
  });
});
