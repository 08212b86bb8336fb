import { createCipheriv, createDecipheriv, hash, randomBytes } from 'node:crypto';
import { z } from 'zod';
import { tryParseJson } from '../../../agent/json.ts';

const KEY_BYTES = 32;
const Sealed = z.object({
  v: z.literal(1),
  key: z.string(),
  iv: z.string(),
  data: z.string(),
  tag: z.string(),
});

interface SealingKey {
  readonly id: string;
  readonly bytes: Buffer;
}

/** Encrypts what is stored of people's accounts, with AES-256-GCM and a key that Redis never sees. */
export class Sealer {
  readonly #keys: readonly [SealingKey, ...SealingKey[]];

  private constructor(keys: readonly [SealingKey, ...SealingKey[]]) {
    this.#keys = keys;
  }

  /** Reads keys of 32 bytes in base64, with commas between: the first encrypts, and all decrypt. Returns a problem if one is no key. */
  static read(text: string): Sealer | string {
    const keys = text
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== '')
      .map((part) => Buffer.from(part, 'base64'));
    const [first, ...others] = keys.map((bytes) => ({ id: hash('sha256', bytes).slice(0, 8), bytes }));
    if (first === undefined || keys.some(({ length }) => length !== KEY_BYTES))
      return 'must be 32 random bytes in base64, such as from "openssl rand -base64 32"';
    return new Sealer([first, ...others]);
  }

  /** Encrypts a text for one place; it can be decrypted only there. */
  seal(place: string, text: string): string {
    const [{ id: key, bytes }] = this.#keys;
    const iv = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', bytes, iv);
    cipher.setAAD(Buffer.from(place));
    const data = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]).toString('base64');
    const tag = cipher.getAuthTag().toString('base64');
    return JSON.stringify({ v: 1, key, iv: iv.toString('base64'), data, tag } satisfies z.infer<
      typeof Sealed
    >);
  }

  /** Decrypts a text of one place; `undefined` if it was changed, belongs elsewhere, or its key is gone. */
  open(place: string, sealed: string): string | undefined {
    const parsed = Sealed.safeParse(tryParseJson(sealed)).data;
    const key = this.#keys.find(({ id }) => id === parsed?.key);
    if (parsed === undefined || key === undefined) return undefined;
    try {
      const decipher = createDecipheriv('aes-256-gcm', key.bytes, Buffer.from(parsed.iv, 'base64'));
      decipher.setAAD(Buffer.from(place));
      decipher.setAuthTag(Buffer.from(parsed.tag, 'base64'));
      return Buffer.concat([decipher.update(Buffer.from(parsed.data, 'base64')), decipher.final()]).toString(
        'utf8',
      );
    } catch {
      return undefined;
    }
  }
}
