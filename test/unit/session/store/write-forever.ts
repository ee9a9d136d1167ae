/** Child process of killed-writer.test.ts: writes responses until it is killed, and says which are written. */
import { LmdbArchive } from "../../../../src/session/store/lmdb-archive.ts";
import { makeStored } from "./make-stored.ts";

const [folder = ""] = process.argv.slice(2);
const limits = { maxResponses: 20, maxBytes: 100_000_000, ttlSeconds: 100 };
const archive = LmdbArchive.open(folder, limits, () => 1_700_000_000);

for (let count = 0; ; count++) {
  const id = `resp_${process.pid}_${count}`;
  await archive.put(makeStored({ id, text: `${id} `.repeat(count % 7 === 0 ? 20_000 : 10) }));
  process.stdout.write(`${id}\n`);
}
