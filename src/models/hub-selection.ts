/** Which files of a repository are the model that a reference names. */
import { DownloadError } from "./download-error.ts";
import { LAST_FILE } from "./hub-cache.ts";
import type { HubFile } from "./hub-client.ts";
import { ggufShards, type HubReference } from "./hub-reference.ts";

const INDEX_FILE = "model.safetensors.index.json";
const SINGLE_FILE = "model.safetensors";
/** What is read beside the weights, as far as a repository has it. */
const TEXT_FILES: readonly string[] = [
  "generation_config.json",
  "tokenizer.json",
  "tokenizer_config.json",
  "special_tokens_map.json",
  "added_tokens.json",
  "chat_template.jinja",
];
const MAX_NAMED = 20;

/** A GGUF with all its shards. @throws {DownloadError} ERR_DOWNLOAD_NOT_FOUND */
export function chooseGguf(
  { repo }: HubReference,
  file: string,
  files: readonly HubFile[],
): readonly HubFile[] {
  return ggufShards(file).map((shard) => {
    const found = files.find(({ path }) => path === shard);
    if (found === undefined) throw notFound(`${repo} has no ${shard}`, files);
    return found;
  });
}

/**
 * The weights with what is needed to use them, `LAST_FILE` at the end.
 * @param readIndex text of the shard index, for a repository that has one
 * @throws {DownloadError} ERR_DOWNLOAD_NOT_FOUND, ERR_DOWNLOAD_ANSWER
 */
export async function chooseSafetensors(
  { repo }: HubReference,
  files: readonly HubFile[],
  readIndex: (index: HubFile) => Promise<string>,
): Promise<readonly HubFile[]> {
  const find = (name: string): HubFile => {
    const found = files.find(({ path }) => path === name);
    if (found === undefined) throw notFound(`${repo} has no ${name}`, files);
    return found;
  };
  const config = find(LAST_FILE);
  const index = files.find(({ path }) => path === INDEX_FILE);
  const shards = index === undefined ? [SINGLE_FILE] : shardsOf(repo, await readIndex(index));
  return [
    ...files.filter(({ path }) => TEXT_FILES.includes(path)),
    ...(index === undefined ? [] : [index]),
    ...shards.map(find),
    config,
  ];
}

/** File names of the index, each once. Those that leave the folder are not among the repository's files. */
function shardsOf(repo: string, index: string): string[] {
  try {
    const { weight_map } = JSON.parse(index) as { weight_map: Record<string, string> };
    const names = [...new Set(Object.values(weight_map))].sort();
    if (names.length > 0) return names;
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof TypeError)) throw error;
  }
  throw new DownloadError("ERR_DOWNLOAD_ANSWER", `${repo}: ${INDEX_FILE} names no files`);
}

function notFound(why: string, files: readonly HubFile[]): DownloadError {
  const ggufs = files.map(({ path }) => path).filter((path) => path.endsWith(".gguf"));
  const more = ggufs.length > MAX_NAMED ? `, and ${ggufs.length - MAX_NAMED} more` : "";
  const hint =
    ggufs.length === 0
      ? "; it has no GGUF file"
      : `; its GGUF files (hf:OWNER/REPO/FILE) are ${ggufs.slice(0, MAX_NAMED).join(", ")}${more}`;
  return new DownloadError("ERR_DOWNLOAD_NOT_FOUND", why + hint);
}
