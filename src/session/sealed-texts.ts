/**
 * Texts of ours that clients keep and send back: a version byte, then the text, encrypted and
 * authenticated (AES-256-GCM) for one tenant and one purpose, in base64url. Whoever else made or
 * changed it, what a client sends is then not a text of ours.
 */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";

const VERSION = 1;
const ALGORITHM = "aes-256-gcm";
export const SEALING_KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export class SealedTexts {
  readonly #key: Buffer;
  readonly #purpose: string;

  /** @param key default: one of this process, which opens nothing that another has sealed */
  constructor(purpose: string, key: Buffer = randomBytes(SEALING_KEY_BYTES)) {
    this.#purpose = purpose;
    this.#key = key;
  }

  seal(tenant: string, text: string): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(ALGORITHM, this.#key, nonce).setAAD(this.#owner(tenant));
    const sealed = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
    const blob = [Buffer.of(VERSION), nonce, cipher.getAuthTag(), sealed];
    return Buffer.concat(blob).toString("base64url");
  }

  /** undefined: not sealed here for this tenant. */
  open(tenant: string, blob: string): string | undefined {
    const bytes = Buffer.from(blob, "base64url");
    if (bytes[0] !== VERSION || bytes.length < 1 + NONCE_BYTES + TAG_BYTES) return undefined;
    const nonce = bytes.subarray(1, 1 + NONCE_BYTES);
    const tag = bytes.subarray(1 + NONCE_BYTES, 1 + NONCE_BYTES + TAG_BYTES);
    const sealed = bytes.subarray(1 + NONCE_BYTES + TAG_BYTES);
    const decipher = createDecipheriv(ALGORITHM, this.#key, nonce, { authTagLength: TAG_BYTES })
      .setAAD(this.#owner(tenant))
      .setAuthTag(tag);
    const text = decipher.update(sealed);
    try {
      return Buffer.concat([text, decipher.final()]).toString("utf8");
    } catch {
      return undefined; // the tag does not fit: the one thing that fails here
    }
  }

  #owner(tenant: string): Buffer {
    return Buffer.from(`${this.#purpose}\0${tenant}`);
  }
}
