import { randomBytes, randomInt } from 'node:crypto';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';

/** Makes an id like Slack's: a prefix for the kind, then uppercase letters and digits. */
export function makeId(prefix: string, length = 10): string {
  return prefix + Array.from({ length }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
}

/** Makes an unguessable string for tokens, tickets and secrets. */
export function makeSecret(bytes = 16): string {
  return randomBytes(bytes).toString('hex');
}

/** A clock of message timestamps: each is unique and later than the one before. */
export class TimestampClock {
  #last = 0;

  /** The last issued time in microseconds; 0 before the first. */
  get last(): number {
    return this.#last;
  }

  /** Continues after an earlier issued time, even if this machine's clock is behind it. */
  resumeAfter(last: number): void {
    this.#last = Math.max(this.#last, last);
  }

  next(): string {
    this.#last = Math.max(this.#last + 1, Date.now() * 1_000);
    return `${Math.floor(this.#last / 1_000_000)}.${String(this.#last % 1_000_000).padStart(6, '0')}`;
  }
}

/** True for a string of the form of a message timestamp. */
export function isTimestamp(value: string): boolean {
  return /^\d{10}\.\d{6}$/.test(value);
}
