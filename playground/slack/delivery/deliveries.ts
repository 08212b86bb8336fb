import { randomUUID } from 'node:crypto';
import type { Timings } from '../limits.ts';
import type { JsonObject } from '../state/types.ts';
import type {
  Attempt,
  AttemptAnswer,
  Delivery,
  EnvelopeType,
  InteractionOutcome,
  MissReason,
  Transport,
} from './delivery.ts';
import { Timers } from './timers.ts';

/**
 * All deliveries to the app, over either transport. An unacknowledged event is delivered again; an interaction is not,
 * and fails for its person.
 */
export class Deliveries {
  readonly all: Delivery[] = [];
  readonly #transport: Transport;
  readonly #timings: Timings;
  readonly #onChange: () => void;
  readonly #timers = new Timers();

  constructor(options: { transport: Transport; timings: Timings; onChange: () => void }) {
    this.#transport = options.transport;
    this.#timings = options.timings;
    this.#onChange = options.onChange;
  }

  deliverEvent(payload: JsonObject): Delivery {
    const delivery = this.#record('events_api', payload);
    void this.#deliverUntilAcknowledged(delivery);
    return delivery;
  }

  async deliverInteraction(
    type: Exclude<EnvelopeType, 'events_api'>,
    payload: JsonObject,
  ): Promise<InteractionOutcome> {
    return this.deliverRaw(type, payload);
  }

  /** Delivers a payload once, whatever it is. */
  async deliverRaw(type: EnvelopeType, payload: JsonObject): Promise<InteractionOutcome> {
    const delivery = this.#record(type, payload);
    const outcome = outcomeOf(await this.#attempt(delivery));
    delivery.outcome = outcome;
    this.#onChange();
    return outcome;
  }

  /** Delivers the same payload again, as Slack does when an acknowledgement is lost. */
  async redeliver(delivery: Delivery): Promise<AttemptAnswer> {
    const answer = await this.#attempt(delivery, 'timeout');
    this.#onChange();
    return answer;
  }

  async stop(): Promise<void> {
    this.#timers.cancelAll();
    await this.#transport.stop();
  }

  #record(type: EnvelopeType, payload: JsonObject): Delivery {
    const delivery: Delivery = { type, payload, attempts: [], outcome: { kind: 'pending' } };
    this.all.push(delivery);
    return delivery;
  }

  async #deliverUntilAcknowledged(delivery: Delivery): Promise<void> {
    let answer = await this.#attempt(delivery);
    for (const pause of this.#timings.eventRetries) {
      if (answer.kind === 'answered' || answer.isFinal) break;
      await this.#timers.pause(pause);
      answer = await this.#attempt(delivery, answer.reason);
    }
    delivery.outcome = outcomeOf(answer);
    this.#onChange();
  }

  async #attempt(delivery: Delivery, retryReason?: MissReason): Promise<AttemptAnswer> {
    const attempt: Attempt = {
      envelopeId: randomUUID(),
      retryAttempt: delivery.attempts.length,
      at: Date.now(),
      ...(retryReason !== undefined && { retryReason }),
    };
    delivery.attempts.push(attempt);
    const answer = this.#transport.send(delivery, attempt);
    this.#onChange();
    return await answer;
  }
}

function outcomeOf(answer: AttemptAnswer): InteractionOutcome {
  return answer.kind === 'answered'
    ? { kind: 'acknowledged', payload: answer.payload, at: Date.now() }
    : { kind: 'failed', reason: answer.reason };
}
