import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';

const DAY_MS = 86_400_000;
const Claim = z.tuple([z.string(), z.string(), z.number(), z.string(), z.string().optional()]);

/** The call of a thread that waits for a callback. */
export interface CallbackTarget {
  readonly threadId: string;
  readonly idempotencyKey: string;
  /** The waiting request, if it exists already. */
  readonly requestId?: string | undefined;
}

/** A parsed address. Each address has its own id, so that it works once. */
export interface CallbackAddress extends CallbackTarget {
  readonly addressId: string;
}

/** Makes and parses the addresses for external systems: signed, and for one call. The record decides until when they work. */
export class CallbackUrls {
  readonly #base: string;
  readonly #secret: string;

  constructor(base: string, secret: string) {
    this.#base = base.replace(/\/$/, '');
    this.#secret = secret;
  }

  make({ threadId, idempotencyKey, requestId }: CallbackTarget, expiresAt = Date.now() + 7 * DAY_MS): string {
    const addressId = randomBytes(12).toString('base64url');
    const fields = [threadId, idempotencyKey, expiresAt, addressId];
    if (requestId !== undefined) fields.push(requestId);
    const claim = Buffer.from(JSON.stringify(fields)).toString('base64url');
    return `${this.#base}/callback/${claim}.${this.#sign(claim)}`;
  }

  /** Parses an address; a forged one is `invalid`. Expiry is checked by the record, not by this process's clock. */
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
