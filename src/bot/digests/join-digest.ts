import { z } from 'zod';
import type { JsonObject } from '../../agent/json.ts';
import type { OutboxItem, RequestRecord } from '../../store/port/store.ts';
import type { BotContext } from '../context.ts';
import { hasPart } from '../delegations/stand-ins.ts';
import { findPosted } from '../delivery/find-posted.ts';
import { openDirect } from '../delivery/send-row.ts';
import { loadList } from '../home/load-lists.ts';
import { quietEnd } from '../requests/quiet-end.ts';
import { readDetails } from '../requests/request-details.ts';
import { personView } from '../requests/view-ids.ts';
import { isGroup } from '../slack/directory.ts';

/** Stands in place of the posted message for a card that is a line of a person's digest instead. */
const Listed = z.object({ digest: z.string(), waits: z.boolean() });
/** Changes within this time are drawn together. */
const GATHER_MS = 1_000;
/** The newest requests among which those are counted that have no card of their own. */
const NEWEST_COUNTED = 50;

/** Tells whether a request is a line of a digest in this place. */
export function isListed(postedAt: JsonObject | undefined): boolean {
  return Listed.safeParse(postedAt).success;
}

/** Tells whether a request is for a person to decide, or its outcome for them to confirm; any member of a group may be. */
export function waitsFor(request: RequestRecord, person: string): boolean {
  const { state, policy } = request;
  if (state === 'unknown') return policy.resolvers.some((id) => id === person || isGroup(id));
  return state === 'pending' && !hasPart(request, person);
}

/**
 * Lists a request in a person's digest instead of a card of its own, if it is in it already, if as many cards as its policy says came
 * before, or if quiet hours held several back; returns what is stored in place of the posted message. High risk has its own card.
 */
export async function joinDigest(
  context: BotContext,
  item: OutboxItem & { kind: 'view' },
  request: RequestRecord,
  person: string,
): Promise<JsonObject | undefined> {
  const { store } = context;
  const waits = waitsFor(request, person);
  const listed = { digest: person, waits };
  const former = Listed.safeParse(request.views.find(({ id }) => id === item.viewId)?.postedAt).data;
  if (former !== undefined) {
    if (waits || former.waits) await store.listInDigest(person, request, GATHER_MS);
    return listed;
  }
  const details = readDetails(request)?.policy;
  const policy = context.toolbox.policy(details?.name ?? '');
  if (policy === undefined || request.state !== 'pending' || details?.risk === 'high') return undefined;
  const wasHeld = quietEnd(context, request, new Date(request.createdAt)) !== undefined;
  if (!wasHeld && policy.digest === undefined) return undefined;
  if (item.tries > 0 && (await wasPosted(context, item, person))) return undefined;
  if (wasHeld && (await countWithoutCard(context, person)) > 1) {
    await store.listInDigest(person, request, GATHER_MS);
    return listed;
  }
  if (policy.digest === undefined) return undefined;
  const told = await store.tell(person, request, policy.digest, GATHER_MS);
  return told.outcome === 'listed' ? listed : undefined;
}

/** Looks for a card that was posted although Slack's answer was lost. */
async function wasPosted({ client }: BotContext, item: OutboxItem, person: string): Promise<boolean> {
  const channel = await openDirect(client, person);
  return (await findPosted(client, item.item, { channel, threadTs: undefined })) !== undefined;
}

/** Counts what waits for a person, may be told now, and has no card in their direct messages yet. */
async function countWithoutCard(context: BotContext, person: string): Promise<number> {
  const directory = context.directory.relaxed();
  const { requests } = await loadList({ ...context, directory }, person, 'waiting', {
    limit: NEWEST_COUNTED,
  });
  return requests.filter((request) => {
    const view = request.views.find(({ id }) => id === personView(person));
    const hasCard = view?.postedAt !== undefined && !isListed(view.postedAt);
    return view !== undefined && !hasCard && quietEnd(context, request) === undefined;
  }).length;
}
