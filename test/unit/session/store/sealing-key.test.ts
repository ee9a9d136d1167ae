import { mkdtempSync, readdirSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { SealedTexts } from "../../../../src/session/sealed-texts.ts";
import { openSealingKey } from "../../../../src/session/store/sealing-key.ts";
import { StoreFolderError } from "../../../../src/session/store/store-folder.ts";

const newFolder = () => mkdtempSync(path.join(tmpdir(), "warmloop-key-"));

test("what one process sealed is opened by the next on the same folder, and by no other", () => {
  const [folder, other] = [newFolder(), newFolder()];
  const blob = new SealedTexts("reasoning", openSealingKey(folder)).seal("a", "a thought");
  const opened = (from: string, tenant: string) =>
    new SealedTexts("reasoning", openSealingKey(from)).open(tenant, blob);
  expect(opened(folder, "a")).toBe("a thought");
  expect(opened(folder, "b")).toBeUndefined();
  expect(opened(other, "a")).toBeUndefined();
});

test("the file of the key is for its owner alone, and nothing is left beside it", () => {
  const folder = newFolder();
  openSealingKey(folder);
  expect(readdirSync(folder)).toEqual(["sealing.key"]);
  expect(statSync(path.join(folder, "sealing.key")).mode & 0o777).toBe(0o600);
});

test("a damaged file is refused with a code, and not replaced", () => {
  const folder = newFolder();
  const file = path.join(folder, "sealing.key");
  openSealingKey(folder);
  truncateSync(file, 31);
  for (let start = 0; start < 2; start++) {
    expect(() => openSealingKey(folder)).toThrow(StoreFolderError);
    expect(() => openSealingKey(folder)).toThrow("ERR_SEALING_KEY_DAMAGED");
  }
  writeFileSync(file, Buffer.alloc(64));
  expect(() => openSealingKey(folder)).toThrow("ERR_SEALING_KEY_DAMAGED");
});
