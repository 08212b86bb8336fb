import { findLossyNumber, isDeeperThan, type JsonValue } from '../../agent/json.ts';
import { callbackActor } from '../../engine/actors.ts';
import { awaitedSchema } from '../../engine/asks/awaited-schema.ts';
import { detailsOf } from '../../engine/request-details.ts';
import { type HttpAnswer, jsonAnswer, refusal } from '../../http/http-answer.ts';
import type { HttpPart } from '../../http/http-part.ts';
import type { RequestRecord } from '../../store/port/request-record.ts';
import type { AnswerResult } from '../../store/port/results.ts';
import type { BotContext } from '../context.ts';
import type { CallbackTarget } from '../slack/callback-urls.ts';

type Context = Pick<BotContext, 'store' | 'callbacks' | 'logger'>;

/** The outcome of a received callback. */
type CallbackOutcome =
  | { readonly outcome: 'recorded' | 'forged' | 'expired' | 'used' | 'not-waiting' }
  | { readonly outcome: 'settled'; readonly state: string }
  | { readonly outcome: 'not-json' }
  | { readonly outcome: 'unfit'; readonly field: string; readonly problem: string };

const MAX_DEPTH = 100;

/** The addresses at which external systems answer. */
export function callbackPart(context: Context): HttpPart {
  const path = '/callback/:token';
  return {
    paths: [path],
    open: async () => ({
      routes: [
        {
          method: 'POST',
          path,
          async answer({ params: { token = '' }, body }) {
            return answerCallback(await receiveCallback(context, token, (await body()).toString('utf8')));
          },
        },
      ],
    }),
  };
}

/** Answers the call of a callback address with the body, once, if the body fits the awaited schema. */
async function receiveCallback(context: Context, token: string, body: string): Promise<CallbackOutcome> {
  const { store, callbacks, logger } = context;
  const target = callbacks.read(token);
  if (target === 'invalid') return { outcome: 'forged' };
  const { threadId, idempotencyKey, addressId } = target;
  // Each address is an actor of its own, so that the requests it ended are found under its name.
  const who = callbackActor(addressId);
  const { requestIds: settled } = await store.list('decided', [who], { limit: 1 });
  if (settled.length > 0) return { outcome: 'used' };
  const request = await findWaiting(context, threadId, idempotencyKey);
  if (request === undefined) return await whyNotWaiting(context, target);

  const value = parseBody(body);
  if (value === undefined) return { outcome: 'not-json' };
  const { interrupt } = detailsOf(request);
  const fits = awaitedSchema(interrupt)?.parse(value);
  if (fits?.ok === false) return { outcome: 'unfit', field: fits.field, problem: fits.problem };

  const evidence = { address: addressId, call: idempotencyKey };
  const recorded = await store.answer(request.id, { who, eligible: true, evidence }, value);
  const outcome = outcomeOf(recorded, request.id);
  logger.info({ threadId, requestId: request.id, ...outcome }, 'callback received');
  return outcome;
}

async function findWaiting(
  { store }: Context,
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

/** Tells a sender that is too late from one that is too early, if the address names its request. */
async function whyNotWaiting(
  { store }: Context,
  { requestId }: Pick<CallbackTarget, 'requestId'>,
): Promise<CallbackOutcome> {
  const loaded = requestId === undefined ? undefined : await store.load(requestId);
  if (loaded?.outcome !== 'found' || loaded.request.state === 'pending') return { outcome: 'not-waiting' };
  return { outcome: 'settled', state: loaded.request.state };
}

function parseBody(body: string): JsonValue | undefined {
  try {
    const value: JsonValue = JSON.parse(body);
    return isDeeperThan(MAX_DEPTH, value) || findLossyNumber(body) !== undefined ? undefined : value;
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
      throw new Error(`The callback for request ${requestId} was not recorded: ${result.outcome}`);
  }
}

/** The delay for a sender that was faster than the thread. */
const RETRY_AFTER_S = '15';

/** Builds the HTTP answer to the sender of a callback. */
function answerCallback(outcome: CallbackOutcome): HttpAnswer {
  switch (outcome.outcome) {
    case 'recorded':
      return jsonAnswer(200, { ok: true });
    case 'not-json':
      return refusal(
        400,
        "The body is not JSON, is nested too deep, or has a number that can't be stored exactly; send such a number as a string.",
      );
    case 'unfit': {
      const where = outcome.field === '' ? 'the body' : outcome.field;
      return refusal(400, `The body does not fit the expected schema: ${where}: ${outcome.problem}`);
    }
    case 'forged':
      return refusal(401, 'This address is not valid.');
    case 'expired':
      return refusal(410, 'The deadline to report back has passed.');
    case 'used':
      return refusal(410, 'This address was already used; it works once.');
    case 'settled':
      return refusal(410, `Nothing is waiting for this: the request is ${outcome.state}.`);
    case 'not-waiting':
      return refusal(409, 'Nothing is waiting for this yet; try again later.', {
        'retry-after': RETRY_AFTER_S,
      });
  }
}
