import { makeSecret } from '../ids.ts';
import { Refusal } from '../web-api/refusal.ts';

/** Trigger ids of interactions; each opens one view, for one person, within a short time. */
export class Triggers {
  readonly #issued = new Map<string, { userId: string; expiresAt: number; exchanged: boolean }>();
  readonly #lifeMs: number;

  constructor(lifeMs: number) {
    this.#lifeMs = lifeMs;
  }

  issue(userId: string): string {
    const id = `${Date.now()}.${this.#issued.size + 1}.${makeSecret()}`;
    this.#issued.set(id, { userId, expiresAt: Date.now() + this.#lifeMs, exchanged: false });
    return id;
  }

  /** Uses up a trigger and returns its person. */
  exchange(id: string): string {
    const trigger = this.#issued.get(id);
    if (trigger === undefined) throw new Refusal('invalid_trigger_id');
    if (trigger.exchanged) throw new Refusal('exchanged_trigger_id');
    if (Date.now() > trigger.expiresAt) throw new Refusal('expired_trigger_id');
    trigger.exchanged = true;
    return trigger.userId;
  }
}
