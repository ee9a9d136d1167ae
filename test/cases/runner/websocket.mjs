// A WebSocket client, by hand so that the runner needs no package.
import { randomBytes } from "node:crypto";
import http from "node:http";

export const UPGRADE = {
  connection: "Upgrade",
  upgrade: "websocket",
  "sec-websocket-version": "13",
};

const OPCODE = { text: 1, binary: 2, close: 8, ping: 9, pong: 10 };

function encodeFrame(opcode, payload) {
  const length = payload.length;
  const head =
    length < 126
      ? Buffer.from([0x80 | opcode, 0x80 | length])
      : Buffer.alloc(length < 65536 ? 4 : 10);
  if (length >= 126) {
    head[0] = 0x80 | opcode;
    head[1] = 0x80 | (length < 65536 ? 126 : 127);
    if (length < 65536) head.writeUInt16BE(length, 2);
    else head.writeBigUInt64BE(BigInt(length), 2);
  }
  const mask = randomBytes(4);
  const masked = Buffer.alloc(length);
  for (let k = 0; k < length; k++) masked[k] = payload[k] ^ mask[k & 3];
  return Buffer.concat([head, mask, masked]);
}

/** Takes one whole frame off the front of `bytes`, or returns null while it is not there yet. */
function decodeFrame(bytes) {
  if (bytes.length < 2) return null;
  const short = bytes[1] & 0x7f;
  const start = short < 126 ? 2 : short === 126 ? 4 : 10;
  if (bytes.length < start) return null;
  const length =
    short < 126 ? short : short === 126 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
  if (bytes.length < start + length) return null;
  return {
    final: (bytes[0] & 0x80) !== 0,
    opcode: bytes[0] & 0x0f,
    payload: bytes.subarray(start, start + length),
    rest: bytes.subarray(start + length),
  };
}

/**
 * Opens the socket and calls back with each text message. Resolves with {send, close}, or throws the
 * refusal.
 */
export function openSocket(url, headers, { onText, onClose }) {
  return new Promise((resolve, reject) => {
    const key = randomBytes(16).toString("base64");
    const request = http.request(url, {
      headers: { ...UPGRADE, ...headers, "sec-websocket-key": key },
      agent: false,
    });
    request.on("response", (response) => {
      response.resume();
      reject(new Error(`upgrade refused with ${response.statusCode}`));
    });
    request.on("error", reject);
    request.on("upgrade", (_response, socket, head) => {
      let buffered = Buffer.alloc(0);
      const message = [];
      const takeFrame = ({ opcode, payload, final }) => {
        if (opcode === OPCODE.ping) socket.write(encodeFrame(OPCODE.pong, payload));
        else if (opcode === OPCODE.close) socket.end();
        else if (opcode <= OPCODE.binary) {
          message.push(payload);
          if (final) onText(Buffer.concat(message.splice(0)).toString("utf8"));
        }
      };
      const take = (data) => {
        buffered = Buffer.concat([buffered, data]);
        for (let frame = decodeFrame(buffered); frame; frame = decodeFrame(buffered)) {
          buffered = frame.rest;
          takeFrame(frame);
        }
      };
      socket.on("data", take).on("close", onClose).on("error", onClose);
      if (head.length) take(head);
      resolve({
        send: (text) => socket.write(encodeFrame(OPCODE.text, Buffer.from(text))),
        close: () => socket.destroy(),
      });
    });
    request.end();
  });
}
