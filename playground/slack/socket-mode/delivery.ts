import type { JsonObject } from '../state/types.ts';

export type EnvelopeType = 'events_api' | 'interactive' | 'slash_commands';

/** One envelope on one connection; `connectionId` is missing when no connection was open. */
export interface Attempt {
  envelopeId: string;
  connectionId?: string;
  retryAttempt: number;
  at: number;
  acknowledgedAt?: number;
}

/** Something Slack tells the app, with every attempt and the app's answer; the record tests look at. */
export interface Delivery {
  type: EnvelopeType;
  payload: JsonObject;
  attempts: Attempt[];
  outcome:
    | { kind: 'pending' }
    | { kind: 'acknowledged'; payload: JsonObject; at: number }
    | { kind: 'failed'; reason: 'timeout' | 'no_connection' };
}

/** How an interaction ended for the person who started it: answered in time, or with an error on their screen. */
export type InteractionOutcome = Exclude<Delivery['outcome'], { kind: 'pending' }>;
