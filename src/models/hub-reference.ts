/**
 * Names of models on a hub: `hf:OWNER/REPO[@REV]/FILE.gguf` for one GGUF file (with all shards of a split
 * one), `hf:OWNER/REPO[@REV]` for a repository's safetensors. Everything here becomes a path of the cache,
 * so names are checked before they are used.
 */
import path from "node:path";
import { usageError } from "../base/exit-error.ts";

export interface HubReference {
  /** As the user wrote it. */
  readonly text: string;
  /** `owner/name` */
  readonly repo: string;
  /** A branch, a tag or a commit. */
  readonly revision: string;
  /** A GGUF file; undefined stands for the repository's safetensors. */
  readonly file?: string;
}

const PREFIX = "hf:";
const DEFAULT_REVISION = "main";
const FORM = "hf:OWNER/REPO[@REV]/FILE.gguf or hf:OWNER/REPO[@REV]";
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;
const COMMIT = /^[0-9a-f]{40}$/;
const SHARD = /^(.+)-(\d{5})-of-(\d{5})\.gguf$/;

export const isHubReference = (text: string): boolean => text.startsWith(PREFIX);
export const isCommit = (revision: string): boolean => COMMIT.test(revision);

/** @throws {ExitError} usage */
export function parseHubReference(text: string): HubReference {
  const [owner = "", nameAndRevision = "", ...file] = text.slice(PREFIX.length).split("/");
  const [name = "", revision, ...rest] = nameAndRevision.split("@");
  const refuse = (why: string): Error => usageError(`${text}: ${why}; the form is ${FORM}`);
  if (!NAME.test(owner) || !NAME.test(name) || rest.length > 0) {
    throw refuse("names no repository");
  }
  const reference = { text, repo: `${owner}/${name}`, revision: readRevision(revision, refuse) };
  if (file.length === 0) return reference;
  const filePath = file.join("/");
  if (!isPathInRepo(filePath)) throw refuse("the file's name leaves the repository");
  if (!filePath.endsWith(".gguf")) throw refuse(`${filePath} is not a GGUF file`);
  return { ...reference, file: filePath };
}

/** The model's name with the commit for its branch or tag. */
export function nameAtCommit({ repo, file }: HubReference, commit: string): string {
  return `${PREFIX}${repo}@${commit}${file === undefined ? "" : `/${file}`}`;
}

/** A slash inside a revision is written `%2F`, as in `refs%2Fpr%2F1`. */
function readRevision(written: string | undefined, refuse: (why: string) => Error): string {
  if (written === undefined) return DEFAULT_REVISION;
  const revision = written.replaceAll(/%2f/gi, "/");
  if (!revision.split("/").every((part) => NAME.test(part)))
    throw refuse("no such revision can be");
  return revision;
}

/** A file name that stays inside its repository, with plain characters only. */
export function isPathInRepo(file: string): boolean {
  return file
    .split("/")
    .every((part) => part !== "" && part !== "." && part !== ".." && !/[\\\p{Cc}]/u.test(part));
}

/** Names of all files of a GGUF: its shards when `file` is one of several, else only itself. */
export function ggufShards(file: string): string[] {
  const match = SHARD.exec(file);
  if (match === null) return [file];
  const [, stem, , count = ""] = match;
  return Array.from({ length: Number(count) }, (_, index) => {
    return `${stem}-${String(index + 1).padStart(5, "0")}-of-${count}.gguf`;
  });
}

/** Id that clients use: the file's stem or the repository's name. */
export function hubModelId({ repo, file }: HubReference): string {
  return (file === undefined ? path.posix.basename(repo) : path.parse(file).name).toLowerCase();
}
