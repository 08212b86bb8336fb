import { randomUUID } from 'node:crypto';
import type { Timings } from '../limits.ts';
import { isObject } from '../state/normalize-blocks.ts';
import type { JsonObject } from '../state/types.ts';
import { Connections } from './connections.ts';
import type { Attempt, Delivery, EnvelopeType, InteractionOutcome } from './delivery.ts';

/**
 * Delivers over Socket Mode: each envelope to one connection. An event that is not acknowledged in time is delivered
 * again; an interaction is not, and fails for the person who started it.
 */
export class SocketMode {
  readonly deliveries: Delivery[] = [];
  readonly connections: Connections;
  readonly #timings: Timings;
  readonly #onChange: () => void;
  readonly #waiting = new Map<string, { attempt: Attempt; answered: (payload: JsonObject) => void }>();
  readonly #timers = new Set<NodeJS.Timeout>();

  constructor(options: { timings: Timings; appId: string; onChange: () => void }) {
    this.#timings = options.timings;
    this.#onChange = options.onChange;
    this.connections = new Connections({ ...options, onMessage: (text) => this.#receive(text) });
  }

  deliverEvent(payload: JsonObject): Delivery {
    const delivery = this.#record('events_api', payload);
    this.#attemptEvent(delivery, 0);
    return delivery;
  }

  deliverInteraction(
    type: Exclude<EnvelopeType, 'events_api'>,
    payload: JsonObject,
  ): Promise<InteractionOutcome> {
    const delivery = this.#record(type, payload);
    return new Promise((resolve) => {
      const settle = (outcome: InteractionOutcome) => {
        if (delivery.outcome.kind === 'pending') delivery.outcome = outcome;
        this.#onChange();
        resolve(outcome);
      };
      this.#attempt(delivery, 0, {
        answered: (answer) => settle({ kind: 'acknowledged', payload: answer, at: Date.now() }),
        missed: (reason) => settle({ kind: 'failed', reason }),
      });
    });
  }

  async stop(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer);
    await this.connections.stop();
  }

  #record(type: EnvelopeType, payload: JsonObject): Delivery {
    const delivery: Delivery = { type, payload, attempts: [], outcome: { kind: 'pending' } };
    this.deliveries.push(delivery);
    return delivery;
  }

  #attemptEvent(delivery: Delivery, retryAttempt: number): void {
    this.#attempt(delivery, retryAttempt, {
      answered: (payload) => {
        delivery.outcome = { kind: 'acknowledged', payload, at: Date.now() };
      },
      missed: (reason) => {
        const pause = this.#timings.eventRetries[retryAttempt];
        if (pause === undefined) delivery.outcome = { kind: 'failed', reason };
        else this.#later(pause, () => this.#attemptEvent(delivery, retryAttempt + 1));
      },
    });
  }

  #attempt(
    delivery: Delivery,
    retryAttempt: number,
    then: { answered: (payload: JsonObject) => void; missed: (reason: 'timeout' | 'no_connection') => void },
  ): void {
    const envelopeId = randomUUID();
    const connectionId = this.connections.send({
      envelope_id: envelopeId,
      type: delivery.type,
      payload: delivery.payload,
      accepts_response_payload: delivery.type !== 'events_api',
      ...(delivery.type === 'events_api' && {
        retry_attempt: retryAttempt,
        retry_reason: retryAttempt === 0 ? '' : 'timeout',
      }),
    });
    const attempt: Attempt = {
      envelopeId,
      retryAttempt,
      at: Date.now(),
      ...(connectionId !== undefined && { connectionId }),
    };
    delivery.attempts.push(attempt);
    if (connectionId === undefined) {
      then.missed('no_connection');
      this.#onChange();
      return;
    }
    const timer = this.#later(this.#timings.acknowledgement, () => then.missed('timeout'));
    this.#waiting.set(envelopeId, {
      attempt,
      answered: (payload) => {
        // A late answer is kept on its attempt, but Slack has already counted the attempt as missed.
        if (!this.#timers.delete(timer)) return;
        clearTimeout(timer);
        then.answered(payload);
      },
    });
    this.#onChange();
  }

  #receive(text: string): void {
    let message: unknown;
    try {
      message = JSON.parse(text);
    } catch {
      return;
    }
    if (!isObject(message) || typeof message.envelope_id !== 'string') return;
    const waiting = this.#waiting.get(message.envelope_id);
    if (waiting === undefined) return;
    this.#waiting.delete(message.envelope_id);
    waiting.attempt.acknowledgedAt = Date.now();
    waiting.answered(isObject(message.payload) ? message.payload : {});
    this.#onChange();
  }

  #later(milliseconds: number, action: () => void): NodeJS.Timeout {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      action();
      this.#onChange();
    }, milliseconds);
    this.#timers.add(timer);
    return timer;
  }
}
