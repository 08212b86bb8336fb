import { isDeeperThan, type JsonValue } from '../../agent/json.ts';
import { findUnkeptNumber } from '../../agent/unkept-number.ts';
import type { AnswerResult, RequestRecord } from '../../store/port.ts';
import type { Toolbox } from '../../tools/toolbox/toolbox.ts';
import type { BotParts } from '../bot-parts.ts';
import { detailsOf } from '../request-details.ts';
import { awaitedSchema } from '../requests/awaited-schema.ts';
import type { CallbackTarget } from './callback-urls.ts';

type Parts = Pick<BotParts, 'store' | 'callbacks' | 'logger'> & { readonly toolbox: Pick<Toolbox, 'find'> };

/** What became of a report that came in under a call-back's address. */
export type CallbackOutcome =
  | { readonly outcome: 'recorded' | 'forged' | 'expired' | 'used' | 'not-waiting' }
  | { readonly outcome: 'settled'; readonly state: string }
  | { readonly outcome: 'not-json' }
  | { readonly outcome: 'unfit'; readonly field: string; readonly problem: string };

const DEEPEST = 100;

/** Takes the report of an outside system: it answers the call that the address was made for, once, if it fits what is awaited. */
export async function takeCallback(parts: Parts, token: string, body: string): Promise<CallbackOutcome> {
  const { store, toolbox, callbacks, logger } = parts;
  const target = callbacks.read(token);
  if (target === 'invalid') return { outcome: 'forged' };
  const { threadId, idempotencyKey, addressId } = target;
  // On record every address is somebody of its own: what it settled is found under its name.
  const who = `callback:${addressId}`;
  const { requestIds: settled } = await store.listDecided(who, { limit: 1 });
  if (settled.length > 0) return { outcome: 'used' };
  const request = await findWaiting(parts, threadId, idempotencyKey);
  if (request === undefined) return await whyNotWaiting(parts, target);

  const value = parseBody(body);
  if (value === undefined) return { outcome: 'not-json' };
  const { interrupt } = detailsOf(request);
  const fits = awaitedSchema(interrupt, toolbox.find(interrupt.toolRequest.name))?.parse(value);
  if (fits?.ok === false) return { outcome: 'unfit', field: fits.field, problem: fits.problem };

  const evidence = { address: addressId, call: idempotencyKey };
  const recorded = await store.answer(request.id, { who, eligible: true, evidence }, value);
  const outcome = outcomeOf(recorded, request.id);
  logger.info({ threadId, requestId: request.id, ...outcome }, 'a call-back came in');
  return outcome;
}

async function findWaiting(
  { store }: Parts,
  threadId: string,
  idempotencyKey: string,
): Promise<RequestRecord | undefined> {
  for (const requestId of await store.waitingIn(threadId)) {
    const loaded = await store.load(requestId);
    if (loaded.outcome !== 'found' || loaded.request.kind !== 'callback') continue;
    if (detailsOf(loaded.request).idempotencyKey === idempotencyKey) return loaded.request;
  }
  return undefined;
}

/** Where the address names its request, the record tells a sender that is too late from one that is too early. */
async function whyNotWaiting(
  { store }: Parts,
  { requestId }: Pick<CallbackTarget, 'requestId'>,
): Promise<CallbackOutcome> {
  const loaded = requestId === undefined ? undefined : await store.load(requestId);
  if (loaded?.outcome !== 'found' || loaded.request.state === 'pending') return { outcome: 'not-waiting' };
  return { outcome: 'settled', state: loaded.request.state };
}

function parseBody(body: string): JsonValue | undefined {
  try {
    const value: JsonValue = JSON.parse(body);
    return isDeeperThan(DEEPEST, value) || findUnkeptNumber(body) !== undefined ? undefined : value;
  } catch {
    return undefined;
  }
}

function outcomeOf(result: AnswerResult, requestId: string): CallbackOutcome {
  switch (result.outcome) {
    case 'answered':
      return { outcome: 'recorded' };
    case 'expired':
      return { outcome: 'expired' };
    case 'settled':
      return { outcome: 'settled', state: result.state };
    default:
      throw new Error(`The call-back for request ${requestId} was not taken: ${result.outcome}`);
  }
}
