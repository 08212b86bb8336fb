import { createCipheriv, createDecipheriv, hash, randomBytes } from 'node:crypto';
import { z } from 'zod';
import { tryParseJson } from '../../../agent/json.ts';
import { AuthorizationError } from '../../errors.ts';
import type { Challenge, Fetch, Identity, RequesterAuth } from '../mcp-config.ts';

/** A server whose calls run in the name of their requesters. */
export interface RequesterServer {
  /** The name of its entry in the manifest. */
  readonly name: string;
  readonly url: string;
  readonly auth: RequesterAuth;
  /** Reaches only addresses that the manifest allows. */
  readonly fetch: Fetch;
}

/** The accounts that people have connected. Each method throws an `AuthorizationError` if there is no token to be had. */
export interface Connections {
  isConnected(server: RequesterServer, person: string): Promise<boolean>;
  /** Returns a token of the person, renewed before it ends. */
  token(server: RequesterServer, person: string): Promise<string>;
  /** Returns another token than the refused one; the person has to connect again if there is none. */
  renew(server: RequesterServer, person: string, refused: string | undefined): Promise<string>;
  /** Notes that a call needs more scope, for which the person has to connect again. */
  widen(server: RequesterServer, person: string, challenge: Challenge): Promise<never>;
  /** Returns the person who connected the server, if anyone did; their token lists its tools. */
  someone(server: RequesterServer): Promise<string | undefined>;
}

/** Creates the identity of one person at a server. */
export function personIdentity(connections: Connections, server: RequesterServer, person: string): Identity {
  return {
    token: () => connections.token(server, person),
    renew: (refused) => connections.renew(server, person, refused),
    widen: (_refused, challenge) => connections.widen(server, person, challenge),
  };
}

/**
 * Creates the identity that lists the tools of a server: nobody, as long as the server lists them for anyone, and after a 401 a person who
 * has connected. It calls no tool.
 */
export function listerIdentity(connections: Connections, server: RequesterServer): Identity {
  let person: string | undefined;
  const find = async (): Promise<string> => {
    person = await connections.someone(server);
    if (person !== undefined) return person;
    throw new AuthorizationError(
      'nobody has connected an account yet; open the Home tab of the bot and choose Connect',
    );
  };
  return {
    async token() {
      if (person === undefined) return undefined;
      const known = person;
      return connections.token(server, known).catch(async (error: unknown) => {
        const other = await find();
        if (other === known) throw error;
        return connections.token(server, other);
      });
    },
    async renew(refused) {
      const found = await find();
      return refused === undefined
        ? connections.token(server, found)
        : connections.renew(server, found, refused);
    },
    async widen(_refused, challenge) {
      return connections.widen(server, await find(), challenge);
    },
  };
}

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
