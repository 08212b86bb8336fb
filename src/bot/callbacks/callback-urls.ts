import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';

const DAY_MS = 86_400_000;
const Claim = z.tuple([z.string(), z.string(), z.number(), z.string(), z.string().optional()]);

/** What a call-back's address stands for: the call of a thread that waits for it. */
export interface CallbackTarget {
  readonly threadId: string;
  readonly idempotencyKey: string;
  /** The request that waits, where there is one already. */
  readonly requestId?: string | undefined;
}

/** An address as it was read: every one that was made is told apart, so that each works once. */
export interface CallbackAddress extends CallbackTarget {
  readonly addressId: string;
}

/** Makes and reads the addresses under which an outside system reports back: signed, and for one call; the record says until when. */
export class CallbackUrls {
  readonly #base: string;
  readonly #secret: string;

  constructor(base: string, secret: string) {
    this.#base = base.replace(/\/$/, '');
    this.#secret = secret;
  }

  make({ threadId, idempotencyKey, requestId }: CallbackTarget, expiresAt = Date.now() + 7 * DAY_MS): string {
    const addressId = randomBytes(12).toString('base64url');
    const parts = [threadId, idempotencyKey, expiresAt, addressId];
    if (requestId !== undefined) parts.push(requestId);
    const claim = Buffer.from(JSON.stringify(parts)).toString('base64url');
    return `${this.#base}/callback/${claim}.${this.#sign(claim)}`;
  }

  /** The call that an address stands for; a forged one is `invalid`. Whether it is too late is not asked of this process's clock. */
  read(token: string): CallbackAddress | 'invalid' {
    const [claim = '', signature = '', ...more] = token.split('.');
    const expected = Buffer.from(this.#sign(claim));
    const given = Buffer.from(signature);
    if (more.length > 0 || given.length !== expected.length || !timingSafeEqual(given, expected))
      return 'invalid';
    const [threadId, idempotencyKey, , addressId, requestId] = Claim.parse(
      JSON.parse(Buffer.from(claim, 'base64url').toString()),
    );
    return { threadId, idempotencyKey, addressId, requestId };
  }

  #sign(claim: string): string {
    return createHmac('sha256', this.#secret).update(`callback:${claim}`).digest('base64url');
  }
}
