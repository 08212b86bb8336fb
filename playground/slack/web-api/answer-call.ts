import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { sendJson } from '../../send-json.ts';
import type { JsonObject } from '../state/types.ts';
import type { Fault, Faults } from './faults.ts';
import {
  type CallAnswer,
  type CallHandling,
  handleCall,
  type RecordedCall,
  tokenKind,
} from './handle-call.ts';
import { readArguments, readToken } from './read-request.ts';
import { Refusal } from './refusal.ts';

export interface ApiServing {
  handling: CallHandling;
  faults: Faults;
  calls: RecordedCall[];
}

/** Answers one HTTP call of the Web API, applies its injected fault, and records it. */
export async function answerCall(
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
  { handling, faults, calls }: ApiServing,
): Promise<void> {
  const { state } = handling.context;
  const method = url.pathname.slice('/api/'.length);
  let given: JsonObject;
  try {
    given = await readArguments(request, url);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return sendJson(response, 200, error.answer);
  }
  const token = readToken(request, given);
  const fault = faults.take(method, given);
  const answer = faultAnswer(fault) ?? handleCall(method, given, token, handling);
  const isLost = fault?.kind === 'reset' || fault?.kind === 'lost-answer' || fault?.kind === 'late';
  const { token: _secret, ...shown } = given;
  calls.push({
    method,
    arguments: shown,
    token: tokenKind(token, handling),
    status: answer.status,
    response: answer.body,
    isLost,
    at: Date.now(),
  });
  state.changed();
  if (isLost) {
    request.socket.destroy();
    if (fault.kind !== 'late') return;
    await pause(fault.milliseconds, undefined, { ref: false });
    handleCall(method, given, token, handling);
    state.changed();
    return;
  }
  if (fault?.kind === 'held') await fault.until;
  if (fault?.kind === 'slow') await pause(fault.milliseconds, undefined, { ref: false });
  sendJson(response, answer.status, answer.body, {
    'x-oauth-scopes': state.app.scopes.join(','),
    ...(answer.retryAfterSeconds !== undefined && { 'retry-after': String(answer.retryAfterSeconds) }),
  });
}

/** Returns the answer to a call that takes no effect because of a fault. */
function faultAnswer(fault: Fault | undefined): CallAnswer | undefined {
  switch (fault?.kind) {
    case 'status':
      return { status: fault.status, body: { ok: false, error: 'internal_error' } };
    case 'reset':
    case 'late':
      return { status: 503, body: {} };
    case 'refuse':
      return { status: 200, body: { ok: false, error: fault.error } };
    default:
      return undefined;
  }
}
