import { toJson } from '../../agent/json.ts';
import { lookUp } from '../../engine/outcomes.ts';
import { readReason } from '../../engine/reasons.ts';
import { detailsOf } from '../../engine/request-details.ts';
import type { BotContext } from '../context.ts';
import { titledRow } from '../reply/reply-rows.ts';
import { peopleToConfirm } from '../requests/plan/people-to-ask.ts';
import { personView } from '../requests/view-ids.ts';
import { isGroup } from '../slack/directory.ts';
import { noticeTexts } from '../texts/notices.ts';

/** Lets the tool find out the outcome of a call that is on record as unknown; otherwise the resolvers are asked. */
export async function findOutcome(
  { store, toolbox, directory, logger }: Pick<BotContext, 'store' | 'toolbox' | 'directory' | 'logger'>,
  requestId: string,
): Promise<void> {
  const loaded = await store.load(requestId);
  if (loaded.outcome !== 'found' || loaded.request.state !== 'unknown') return;
  const { request } = loaded;
  const { interrupt, idempotencyKey } = detailsOf(request);
  const tool = toolbox.find(interrupt.toolRequest.name)?.tool;
  const verdict = await lookUp({ logger }, tool, {
    idempotencyKey,
    input: toJson(interrupt.toolRequest.input),
  });
  if (verdict !== 'unknown') {
    const who = `tool:${interrupt.toolRequest.name}`;
    const actor = { who, eligible: true, evidence: { reconciled: idempotencyKey } };
    const reason = 'the tool looked it up';
    await store.resolve(requestId, actor, verdict, reason, request.attempts);
    return;
  }
  const { resolvers } = request.policy;
  const { people, isSure } = await peopleToConfirm(directory.fresh(), resolvers);
  if (!isSure) throw new Error('The people who can confirm an outcome could not be looked up');
  // A changed card notifies nobody; a message with mentions does.
  const notTried = (request.payload ?? '') === '' ? noticeTexts.unknown : noticeTexts.notTriedAgain;
  const text = readReason(request.payload)?.code === 'in-doubt' ? noticeTexts.inDoubt : notTried;
  const told = resolvers.filter((id) => isGroup(id) || people.includes(id));
  await store.askResolvers(requestId, request.revision, {
    row: titledRow(request, 'unknown', text, told, request.revision),
    views: people.map((user) => ({ id: personView(user), place: { user } })),
  });
}
