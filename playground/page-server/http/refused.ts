import type { ServerResponse } from 'node:http';
import type { Answer } from '../../protocol.ts';
import { sendJson } from '../../slack/web-api/send-json.ts';

/** A request that is not carried out: the status of the answer, and one sentence for whoever made it. */
export class Refused extends Error {
  override readonly name = 'Refused';
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Ends a response with the JSON of an answer; nobody keeps a copy of it. */
export function sendAnswer(response: ServerResponse, status: number, answer: Answer): void {
  sendJson(response, status, { ...answer }, { 'cache-control': 'no-store' });
}
