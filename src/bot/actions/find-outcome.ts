import { toJson } from '../../agent/json.ts';
import type { BotContext } from '../context.ts';
import { titledRow } from '../delivery/titled-row.ts';
import { detailsOf } from '../requests/request-details.ts';
import { personView } from '../requests/view-ids.ts';
import { noticeTexts } from '../texts/notices.ts';
import { lookUp } from './look-up.ts';
import { giveBackAction } from './run-action.ts';

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
    const resolved = await store.resolve(requestId, actor, verdict, reason, request.attempts);
    if (resolved.outcome === 'resolved' && verdict === 'did-not-run')
      await giveBackAction({ store, toolbox }, request);
    return;
  }
  const people = await directory.surePeopleOf(request.policy.resolvers);
  // A changed card notifies nobody; a message with mentions does.
  const hasReason = request.payload !== undefined && request.payload !== '';
  const text = hasReason ? noticeTexts.notTriedAgain : noticeTexts.unknown;
  const { resolvers } = request.policy;
  await store.askResolvers(requestId, request.revision, {
    row: titledRow(request, 'unknown', text, resolvers, request.revision),
    views: people.map((user) => ({ id: personView(user), place: { user } })),
  });
}
