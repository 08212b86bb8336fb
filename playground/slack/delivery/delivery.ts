import type { JsonObject } from '../state/types.ts';

export type EnvelopeType = 'events_api' | 'interactive' | 'slash_commands';

/** Why an attempt came to nothing: no answer in time, nobody there, or an answer that is an error. */
export type MissReason = 'timeout' | 'no_connection' | 'http_error';

/** An HTTP request as it was sent, byte for byte, so that it can be sent again. */
export interface SentRequest {
  url: string;
  headers: Record<string, string>;
  body: string;
}

/** One try to tell the app; `connectionId` is missing over HTTP and when no connection was open. */
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

/** Something Slack tells the app, with every attempt and the app's answer; the record tests look at. */
export interface Delivery {
  type: EnvelopeType;
  payload: JsonObject;
  attempts: Attempt[];
  outcome:
    | { kind: 'pending' }
    | { kind: 'acknowledged'; payload: JsonObject; at: number }
    | { kind: 'failed'; reason: MissReason };
}

/** How an interaction ended for the person who started it: answered in time, or with an error on their screen. */
export type InteractionOutcome = Exclude<Delivery['outcome'], { kind: 'pending' }>;

/** What became of one attempt; after a final miss Slack does not try again. */
export type AttemptAnswer =
  | { kind: 'answered'; payload: JsonObject }
  | { kind: 'missed'; reason: MissReason; isFinal: boolean };

/** A way to the app; `send` fills in what the attempt learns and never rejects. */
export interface Transport {
  send: (delivery: Delivery, attempt: Attempt) => Promise<AttemptAnswer>;
  stop: () => Promise<void>;
}
