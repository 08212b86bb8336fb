import type { Delivery } from '../../../playground/slack/delivery/delivery.ts';

/** Tells what Slack has given up telling the app after all its tries; whoever said it sees nothing happen, and says it again. */
export class LostWords {
  readonly #deliveries: readonly Delivery[];
  readonly #open = new Set<Delivery>();
  readonly #heard = new Set<string>();
  readonly #lost = new Set<string>();
  #seen = 0;

  constructor(deliveries: readonly Delivery[]) {
    this.#deliveries = deliveries;
  }

  /** The number of messages that Slack stopped resending. */
  get count(): number {
    return this.#given().length;
  }

  /** Whether a message was given up, and no copy of it arrived. */
  has(ts: string): boolean {
    return this.#lost.has(ts) && !this.#heard.has(ts);
  }

  /** Takes in what has become of the deliveries since. */
  look(): void {
    for (const delivery of this.#deliveries.slice(this.#seen))
      if (delivery.type === 'events_api') this.#open.add(delivery);
    this.#seen = this.#deliveries.length;
    for (const delivery of this.#open) {
      const { kind } = delivery.outcome;
      if (kind === 'pending') continue;
      this.#open.delete(delivery);
      (kind === 'failed' ? this.#lost : this.#heard).add(tsOf(delivery));
    }
  }

  #given(): string[] {
    return [...this.#lost].filter((ts) => this.has(ts));
  }
}

function tsOf({ payload }: Delivery): string {
  const event: { ts?: string } = Object(payload.event);
  return event.ts ?? '';
}
