/** Zip archives without compression, as small wheels of our own need them. */
import { crc32 } from "node:zlib";

const LOCAL_HEADER = 0x04034b50;
const DIRECTORY_ENTRY = 0x02014b50;
const DIRECTORY_END = 0x06054b50;

export function storedZip(files: Readonly<Record<string, Buffer>>): Buffer {
  const bodies: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, bytes] of Object.entries(files)) {
    const nameBytes = Buffer.from(name);
    const facts = Buffer.alloc(26); // common to both headers, from "version needed" on
    facts.writeUInt16LE(10, 0);
    facts.writeUInt32LE(crc32(bytes), 10);
    facts.writeUInt32LE(bytes.length, 14);
    facts.writeUInt32LE(bytes.length, 18);
    facts.writeUInt16LE(nameBytes.length, 22);
    const local = Buffer.concat([uint32(LOCAL_HEADER), facts, nameBytes, bytes]);
    const entryEnd = Buffer.alloc(14); // comment, disk and attributes: none
    entryEnd.writeUInt32LE(offset, 10);
    directory.push(
      Buffer.concat([uint32(DIRECTORY_ENTRY), Buffer.from([10, 0]), facts, entryEnd, nameBytes]),
    );
    bodies.push(local);
    offset += local.length;
  }
  const entries = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(directory.length, 4);
  end.writeUInt16LE(directory.length, 6);
  end.writeUInt32LE(entries.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...bodies, entries, uint32(DIRECTORY_END), end]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
