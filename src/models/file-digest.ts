/** Checksums of downloaded files, in the two forms that sources publish. */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";

/** `git-sha1` is the id of the file as a git blob: the hub's name for files outside its LFS. */
export interface FileDigest {
  readonly kind: "sha256" | "git-sha1";
  readonly hex: string;
}

export async function digestFile(file: string, kind: FileDigest["kind"]): Promise<string> {
  const hash = createHash(kind === "sha256" ? "sha256" : "sha1");
  if (kind === "git-sha1") hash.update(`blob ${(await stat(file)).size}\0`);
  for await (const chunk of createReadStream(file)) hash.update(chunk);
  return hash.digest("hex");
}

/** The digest that an ETag of the hub is: 64 digits for LFS files, 40 for others. */
export function digestOfEtag(etag: string | null): FileDigest | undefined {
  const hex = /^(?:W\/)?"?([0-9a-f]{40}|[0-9a-f]{64})"?$/.exec(etag ?? "")?.[1];
  if (hex === undefined) return undefined;
  return { kind: hex.length === 64 ? "sha256" : "git-sha1", hex };
}
