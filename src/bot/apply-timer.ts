import type { RequestRecord, TimerKind } from '../store/port.ts';
import type { BotParts } from './bot-parts.ts';
import { isGroup } from './people/directory.ts';
import { detailsOf } from './request-details.ts';
import { parseThreadId } from './thread.ts';

/** Does what time asks for; the record itself decides whether it is really due. */
export async function applyTimer(parts: BotParts, kind: TimerKind, id: string): Promise<void> {
  const { store } = parts;
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
      if ((await store.recover(id)).outcome === 'unknown-outcome') await lookInto(parts, id);
      return;
    case 'remind':
      await withRequest(parts, id, (request) =>
        store.remind(id, noticeOf(request, 'remind', 'still waits for', notVoted(request))),
      );
      return;
    case 'escalate':
      await withRequest(parts, id, (request) => escalate(parts, request));
  }
}

async function withRequest(
  { store }: BotParts,
  id: string,
  act: (request: RequestRecord) => Promise<unknown>,
): Promise<void> {
  const loaded = await store.load(id);
  if (loaded.outcome === 'found') await act(loaded.request);
  // What is gone has no timer to keep.
  else await store.expire(id);
}

/** More people may decide now; they get the card as the first ones did. */
async function escalate({ store, directory, toolbox }: BotParts, request: RequestRecord): Promise<void> {
  const further = request.policy.escalate?.to ?? [];
  const result = await store.escalate(
    request.id,
    noticeOf(request, 'escalate', 'was not decided in time, and may now be decided by', further),
  );
  const policy = toolbox.policy(detailsOf(request).policy?.name ?? '');
  if (result.outcome !== 'escalated' || policy?.directMessages === false) return;
  const people = await directory.peopleOf(further);
  await store.addViews(
    request.id,
    people.map((user) => ({ id: `to-${user}`, place: { user } })),
  );
}

/** Lets the tool itself find out what became of its call; where it cannot, the people who may are shown the card. */
async function lookInto({ store, toolbox, directory, logger }: BotParts, id: string): Promise<void> {
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
        logger.warn({ requestId: id, err }, 'a tool could not find out what became of its call');
        return 'unknown' as const;
      });
    if (verdict !== 'unknown') {
      const deed = { who: `tool:${tool.name}`, eligible: true, evidence: { reconciled: idempotencyKey } };
      await store.resolve(id, deed, verdict, 'the tool looked it up', request.attempts);
      return;
    }
  }
  const people = await directory.peopleOf(request.policy.resolvers);
  await store.addViews(
    id,
    people.map((user) => ({ id: `to-${user}`, place: { user } })),
  );
  // A card that changes tells nobody; a message that names people does.
  const doubt = 'was started, and nobody knows whether it ran. This can be said by';
  await store.putOutbox(request.threadId, noticeOf(request, 'unknown', doubt, request.policy.resolvers));
}

function notVoted({ principals, votes }: RequestRecord): string[] {
  return principals.filter((id) => !votes.some(({ who }) => who === id));
}

/** One row a moment: a reminder that falls due again is another message, the same one sent twice is not. */
function noticeOf(request: RequestRecord, kind: string, words: string, people: readonly string[]) {
  const { name } = detailsOf(request).interrupt.toolRequest;
  const { channel, threadTs } = parseThreadId(request.threadId);
  const mentions = people.map((id) => (isGroup(id) ? `<!subteam^${id}>` : `<@${id}>`)).join(', ');
  return {
    id: `${request.id}/${kind}/${Date.now()}`,
    body: { kind: 'notice', channel, threadTs, text: `\`${name}\` ${words} ${mentions}.` },
  };
}
