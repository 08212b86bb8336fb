import type { JsonObject } from '../state/types.ts';

export type EnvelopeType = 'events_api' | 'interactive' | 'slash_commands';

/** Reasons for a failed attempt: no answer in time, no connection, or an error answer. */
export type MissReason = 'timeout' | 'no_connection' | 'http_error';

/** An HTTP request exactly as sent, so that it can be replayed. */
export interface SentRequest {
  url: string;
  headers: Record<string, string>;
  body: string;
}

/** One delivery attempt; `connectionId` is missing over HTTP and when no connection was open. */
export interface Attempt {
  envelopeId: string;
  connectionId?: string;
  retryAttempt: number;
  retryReason?: MissReason;
  at: number;
  acknowledgedAt?: number;
  request?: SentRequest;
  status?: number;
}

/** One delivery to the app, with all attempts and the app's answer; tests inspect it. */
export interface Delivery {
  type: EnvelopeType;
  payload: JsonObject;
  attempts: Attempt[];
  outcome:
    | { kind: 'pending' }
    | { kind: 'acknowledged'; payload: JsonObject; at: number }
    | { kind: 'failed'; reason: MissReason };
}

/** Result of an interaction for its person: answered in time, or an error on their screen. */
export type InteractionOutcome = Exclude<Delivery['outcome'], { kind: 'pending' }>;

/** Result of one attempt; after a final miss Slack does not retry. */
export type AttemptAnswer =
  | { kind: 'answered'; payload: JsonObject }
  | { kind: 'missed'; reason: MissReason; isFinal: boolean };

/** A transport to the app; `send` fills in the attempt and never rejects. */
export interface Transport {
  send: (delivery: Delivery, attempt: Attempt) => Promise<AttemptAnswer>;
  stop: () => Promise<void>;
}
