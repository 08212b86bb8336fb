import { randomUUID } from 'node:crypto';
import type { SignedRequest, SignResult } from '../../store/port.ts';
import type { BotParts } from '../bot-parts.ts';
import { mayDecide } from '../people/may-decide.ts';
import { detailsOf } from '../request-details.ts';
import { viewsSeenIn } from '../requests/view-ids.ts';
import { type Action, carryOut, digestNow, type Started } from '../run-action.ts';
import type { Click } from './decide.ts';

/**
 * Signs for somebody who is named by the policy and whose signature is the only one that is needed, and goes on with the action
 * beside whoever called: the record tells whether that is so, with no look at it before. Where it is not, or where this process has
 * no hand free, nothing has changed, and the request as it is may be in what this gives.
 */
export async function signAndRun(
  parts: BotParts,
  requestId: string,
  click: Click,
): Promise<SignResult | undefined> {
  const { store, directory, toolbox, turns, timing } = parts;
  const release = turns.reserve();
  if (release === undefined) return undefined;
  try {
    const { who, id, channel } = click;
    // This is the last look before the effect as well, so nothing counts that was found earlier.
    const permission = await mayDecide(directory.fresh(), who, [who]);
    if (!permission.eligible) return undefined;
    const attempt = randomUUID();
    const sentAt = performance.now();
    const result = await store.sign(requestId, {
      who,
      evidence: { click: id, ...permission.evidence },
      ground: toolbox.ground(),
      seenAt: channel === undefined ? [] : viewsSeenIn(channel, who, requestId),
      attempt,
      silenceMs: timing.silenceMs,
    });
    if (result.outcome === 'signed') run(parts, result.request, { attempt, sentAt, history: result.history });
    return result;
  } finally {
    release();
  }
}

function run(parts: BotParts, request: SignedRequest, started: Started): void {
  const { turns, logger } = parts;
  const running = async (): Promise<void> => carryOut(parts, actionOf(parts, request), started);
  const going = running();
  going.catch((err) => logger.warn({ requestId: request.id, err }, 'an action broke off'));
  turns.goOn(request.threadId, going);
}

/** What was signed, as it would run now; what is on record must be what the digest was made of, or nothing runs and people are asked. */
function actionOf(parts: BotParts, request: SignedRequest): Action {
  const details = detailsOf(request);
  const { name } = details.interrupt.toolRequest;
  const entry = parts.toolbox.find(name);
  if (entry === undefined) throw new Error(`There is no tool "${name}" any more`);
  const action = { request, details, entry };
  if (digestNow(parts, action) !== request.digest)
    throw new Error('What is on record is not what was signed');
  return action;
}
