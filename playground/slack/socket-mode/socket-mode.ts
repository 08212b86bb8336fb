import type { Attempt, AttemptAnswer, Delivery, Transport } from '../delivery/delivery.ts';
import { Timers } from '../delivery/timers.ts';
import type { Timings } from '../limits.ts';
import { isObject } from '../state/normalize-blocks.ts';
import type { JsonObject } from '../state/types.ts';
import { Connections } from './connections.ts';

/** Delivers over Socket Mode: each envelope goes to one connection and is missed without an acknowledgement in time. */
export class SocketMode implements Transport {
  readonly connections: Connections;
  readonly #timings: Timings;
  readonly #onChange: () => void;
  readonly #waiting = new Map<string, { attempt: Attempt; answered: (payload: JsonObject) => void }>();
  readonly #timers = new Timers();

  constructor(options: { timings: Timings; appId: string; onChange: () => void }) {
    this.#timings = options.timings;
    this.#onChange = options.onChange;
    this.connections = new Connections({ ...options, onMessage: (text) => this.#receive(text) });
  }

  send(delivery: Delivery, attempt: Attempt): Promise<AttemptAnswer> {
    const connectionId = this.connections.send({
      envelope_id: attempt.envelopeId,
      type: delivery.type,
      payload: delivery.payload,
      accepts_response_payload: delivery.type !== 'events_api',
      ...(delivery.type === 'events_api' && {
        retry_attempt: attempt.retryAttempt,
        retry_reason: attempt.retryAttempt === 0 ? '' : 'timeout',
      }),
    });
    if (connectionId === undefined)
      return Promise.resolve({ kind: 'missed', reason: 'no_connection', isFinal: false });
    attempt.connectionId = connectionId;
    return new Promise((resolve) => {
      const cancel = this.#timers.after(this.#timings.acknowledgement, () =>
        resolve({ kind: 'missed', reason: 'timeout', isFinal: false }),
      );
      // A late answer is kept on its attempt, but Slack has already counted the attempt as missed.
      const answered = (payload: JsonObject) => {
        if (cancel()) resolve({ kind: 'answered', payload });
      };
      this.#waiting.set(attempt.envelopeId, { attempt, answered });
    });
  }

  async stop(): Promise<void> {
    this.#timers.cancelAll();
    await this.connections.stop();
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
}
