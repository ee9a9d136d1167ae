/** Stored responses of a really started server: what a kill and a restart leave of them. */
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { runCli, type StartedServer, startServer } from "./cli-process.ts";

const newFolder = () => path.join(mkdtempSync(path.join(tmpdir(), "warmloop-stored-")), "store");

interface Answer {
  readonly id: string;
  readonly status: string;
}

async function post(server: StartedServer, body: object): Promise<Answer> {
  const response = await fetch(`${server.url}/v1/responses`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: server.modelId, max_output_tokens: 8, ...body }),
  });
  expect(response.status).toBe(200);
  return (await response.json()) as Answer;
}

function bytesIn(folder: string): string {
  const files = readdirSync(folder);
  return files.map((file) => readFileSync(path.join(folder, file), "latin1")).join("");
}

async function untilEnded(server: StartedServer, id: string): Promise<Answer> {
  const show = async () => {
    const response = await fetch(`${server.url}/v1/responses/${id}`);
    return (await response.json()) as Answer;
  };
  await expect.poll(async () => (await show()).status).not.toBe("in_progress");
  return await show();
}

async function isWritten(folder: string, id: string): Promise<void> {
  await expect.poll(() => bytesIn(folder).includes(id)).toBe(true);
}

describe("a store folder", () => {
  test("brings a chain through a kill, and holds nothing of store:false", async () => {
    const folder = newFolder();
    const args = ["--store-dir", folder];
    let first: Answer;
    {
      await using server = await startServer(args);
      await post(server, { input: "a secret rhubarb", store: false });
      first = await post(server, { input: "My name is Ada." });
      await isWritten(folder, first.id);
      server.process.child.kill("SIGKILL");
    }
    await using server = await startServer(args);
    const second = await post(server, { input: "Who am I?", previous_response_id: first.id });
    expect(second).toMatchObject({ previous_response_id: first.id });
    expect(bytesIn(folder)).not.toContain("rhubarb");
  });

  test("has the background responses of a server that was stopped, and their chains", async () => {
    const folder = newFolder();
    const args = ["--store-dir", folder];
    let cancelled: Answer;
    let finished: Answer;
    {
      await using server = await startServer(args);
      const background = { input: "Count to a thousand.", background: true };
      const endless = await post(server, { ...background, max_output_tokens: 4000 });
      const cancel = `${server.url}/v1/responses/${endless.id}/cancel`;
      cancelled = (await (await fetch(cancel, { method: "POST" })).json()) as Answer;
      expect(cancelled.status).toBe("cancelled");
      const short = await post(server, background);
      const replay = await fetch(`${server.url}/v1/responses/${short.id}?stream=true`);
      const events = [...(await replay.text()).matchAll(/^event: (\S+)$/gm)].map(
        ([, type]) => type,
      );
      expect(events[0]).toBe("response.created");
      expect(events.at(-1)).toMatch(/^response\.(completed|incomplete)$/);
      finished = await untilEnded(server, short.id);
      server.process.child.kill("SIGTERM");
      expect((await server.process.result()).exitCode).toBe(0);
    }
    await using server = await startServer(args);
    for (const response of [cancelled, finished]) {
      expect(await untilEnded(server, response.id)).toEqual(response);
      const chained = await post(server, { input: "Go on.", previous_response_id: response.id });
      expect(chained).toMatchObject({ previous_response_id: response.id });
    }
  });

  test("that is none of ours is refused before the model is loaded", async () => {
    const file = newFolder();
    writeFileSync(file, "text");
    const { exitCode, stderr } = await runCli(["serve", "--port", "0", "--store-dir", file]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(`--store-dir ${file}`);
  });
});
