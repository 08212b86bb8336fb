import type { RequestRecord, TimerKind } from '../../store/port/store.ts';
import { titleOf } from '../cards/card-details.ts';
import type { BotContext } from '../context.ts';
import { detailsOf } from '../requests/request-details.ts';
import { personView } from '../requests/view-ids.ts';
import { parseThreadId } from '../slack/thread.ts';
import { noticeTexts } from '../texts/notices.ts';

/** Applies a timer; the record itself decides whether it is due. */
export async function applyTimer(context: BotContext, kind: TimerKind, id: string): Promise<void> {
  const { store } = context;
  switch (kind) {
    case 'expire':
      await store.expire(id);
      return;
    case 'purge':
      await store.purge(id);
      return;
    case 'retire':
      await store.retire(id);
      return;
    case 'recover':
      if ((await store.recover(id)).outcome === 'unknown-outcome') await reconcile(context, id);
      return;
    case 'remind':
      await withRequest(context, id, (request) =>
        store.remind(id, noticeOf(request, 'remind', noticeTexts.reminder, notVoted(request))),
      );
      return;
    case 'escalate':
      await withRequest(context, id, (request) => escalate(context, request));
  }
}

async function withRequest(
  { store }: BotContext,
  id: string,
  act: (request: RequestRecord) => Promise<unknown>,
): Promise<void> {
  const loaded = await store.load(id);
  if (loaded.outcome === 'found') await act(loaded.request);
  // A request that is gone needs no timer.
  else await store.expire(id);
}

/** Lets further people decide, and sends them the card. */
async function escalate({ store, directory, toolbox }: BotContext, request: RequestRecord): Promise<void> {
  const further = request.policy.escalate?.to ?? [];
  const result = await store.escalate(
    request.id,
    noticeOf(request, 'escalate', noticeTexts.escalated, further),
  );
  const policy = toolbox.policy(detailsOf(request).policy?.name ?? '');
  if (result.outcome !== 'escalated' || policy?.directMessages === false) return;
  const people = await directory.peopleOf(further);
  await store.addViews(
    request.id,
    people.map((user) => ({ id: personView(user), place: { user } })),
  );
}

/** Lets the tool find out the outcome of its call; otherwise the resolvers are asked. */
async function reconcile({ store, toolbox, directory, logger }: BotContext, id: string): Promise<void> {
  const loaded = await store.load(id);
  if (loaded.outcome !== 'found') return;
  const { request } = loaded;
  const { interrupt, idempotencyKey } = detailsOf(request);
  const tool = toolbox.find(interrupt.toolRequest.name)?.tool;
  if (tool?.kind === 'tool' && tool.reconcile !== undefined) {
    const input = tool.inputSchema.parse(interrupt.toolRequest.input);
    const verdict = await tool
      .reconcile(idempotencyKey, input.ok ? input.value : {})
      .catch((err: unknown) => {
        logger.warn({ requestId: id, err }, 'reconcile failed');
        return 'unknown' as const;
      });
    if (verdict !== 'unknown') {
      const actor = { who: `tool:${tool.name}`, eligible: true, evidence: { reconciled: idempotencyKey } };
      await store.resolve(id, actor, verdict, 'the tool looked it up', request.attempts);
      return;
    }
  }
  const people = await directory.peopleOf(request.policy.resolvers);
  await store.addViews(
    id,
    people.map((user) => ({ id: personView(user), place: { user } })),
  );
  // A changed card notifies nobody; a message with mentions does.
  const notice = noticeOf(request, 'unknown', noticeTexts.unknown, request.policy.resolvers);
  await store.enqueueOutbox(request.threadId, notice);
}

function notVoted({ principals, votes }: RequestRecord): string[] {
  return principals.filter((id) => !votes.some(({ who }) => who === id));
}

/** Builds a notice with an id per moment, so that the next reminder is a new message and a resent one is not. */
function noticeOf(
  request: RequestRecord,
  kind: string,
  { lead, tail }: { readonly lead: string; readonly tail: string },
  people: readonly string[],
) {
  const { channel, threadTs } = parseThreadId(request.threadId);
  const title = titleOf(request);
  return {
    id: `${request.id}/${kind}/${Date.now()}`,
    body: { kind: 'titled', channel, threadTs, text: lead, title, tail, people: [...people] },
  };
}
