import { createHmac, timingSafeEqual } from 'node:crypto';

const DAY_MS = 86_400_000;

/** What a call-back's address stands for: the call of a thread that waits for it. */
export interface CallbackTarget {
  readonly threadId: string;
  readonly idempotencyKey: string;
}

/** Makes and reads the addresses under which an outside system reports back: signed, for one call, and valid for a time. */
export class CallbackUrls {
  readonly #base: string;
  readonly #secret: string;

  constructor(base: string, secret: string) {
    this.#base = base.replace(/\/$/, '');
    this.#secret = secret;
  }

  make({ threadId, idempotencyKey }: CallbackTarget, validMs = 7 * DAY_MS): string {
    const claim = Buffer.from(JSON.stringify([threadId, idempotencyKey, Date.now() + validMs])).toString(
      'base64url',
    );
    return `${this.#base}/callback/${claim}.${this.#sign(claim)}`;
  }

  /** The call that an address stands for; a forged one is `invalid`, an old one `expired`. */
  read(token: string): CallbackTarget | 'invalid' | 'expired' {
    const [claim = '', signature = ''] = token.split('.');
    const expected = Buffer.from(this.#sign(claim));
    const given = Buffer.from(signature);
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return 'invalid';
    const [threadId, idempotencyKey, until]: [string, string, number] = JSON.parse(
      Buffer.from(claim, 'base64url').toString(),
    );
    return until < Date.now() ? 'expired' : { threadId, idempotencyKey };
  }

  #sign(claim: string): string {
    return createHmac('sha256', this.#secret).update(`callback:${claim}`).digest('base64url');
  }
}
