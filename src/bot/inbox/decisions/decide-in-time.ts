import { z } from 'zod';
import { toJson } from '../../../agent/json.ts';
import { withTimeout } from '../../../agent/util/running-work.ts';
import { type OutboxItem, threadOf } from '../../../store/port/store.ts';
import type { BotContext } from '../../context.ts';
import { isBehind, PostedMessage } from '../../outbox/posted-message.ts';
import { PrivatePlace, tellPrivately } from '../../outbox/private-notice.ts';
import { titleOf } from '../../views/cards/card-details.ts';
import { noticeTexts } from '../../views/texts/notices.ts';
import { escapeMarkup } from '../../views/texts/show-text.ts';
import { THREAD_VIEW } from '../../views/view-ids.ts';
import type { Notice } from './click.ts';
import { applyDecision, MadeDecision } from './decision.ts';

/** The kind of an outbox row that holds a click until it is decided. */
export const DECISION = 'decision';
const HeldClick = z.object({ made: MadeDecision, replyTo: PrivatePlace });

/** An acknowledgement of a click or a form, with the sentence for the person, if there is one and it came in time. */
interface Acknowledgement {
  readonly withinMs: number;
  readonly ack: (notice?: Notice) => Promise<void>;
}

/**
 * Applies a decision, and acknowledges it as soon as something is on record. If Slack need not be asked who the person is, that is the
 * decision itself. Otherwise it is the click: nothing counts yet, and if this process dies, another one applies it from the outbox.
 */
export async function decideInTime(
  context: BotContext,
  made: MadeDecision,
  replyTo: PrivatePlace,
  { withinMs, ack }: Acknowledgement,
): Promise<Notice> {
  const applied = applyDecision(context, made);
  const inTime = await withTimeout(
    withinMs,
    applied.then((notice) => ({ notice })),
  );
  if (inTime === undefined) await holdAndDecide(context, made, replyTo, { applied, ack });
  else await ack(inTime.notice);
  const notice = await applied;
  if (notice === undefined) tellIfLate(context, made, replyTo);
  return notice;
}

/** Puts a click on record, acknowledges it, and waits until it is decided. */
async function holdAndDecide(
  { store, timing, logger }: BotContext,
  made: MadeDecision,
  replyTo: PrivatePlace,
  { applied, ack }: { readonly applied: Promise<Notice>; readonly ack: () => Promise<void> },
): Promise<void> {
  const { requestId, click } = made;
  const row = {
    id: `${requestId}/click/${click.who}/${click.id}`,
    body: { kind: DECISION, made: toJson(made), replyTo: toJson(replyTo) },
  };
  const held = await store
    .enqueueOutbox(threadOf(requestId) ?? '', row, timing.claimMs)
    .catch((err: unknown) => {
      logger.warn({ requestId, err }, 'click not recorded before its decision');
      return undefined;
    });
  if (held !== undefined) await ack();
  await applied;
  if (held === undefined) await ack();
  else await store.done(held);
}

/** A card that does not show a decision after this time is late. */
const LATE_MS = 2_000;

/** Tells the person after a moment that their decision is on record, if the card still does not show it. */
function tellIfLate(
  context: BotContext,
  { requestId, click, decision }: MadeDecision,
  to: PrivatePlace,
): void {
  const verb = noticeTexts.decided[decision.type];
  if (verb === undefined) return;
  const check = async (): Promise<void> => {
    const loaded = await context.store.load(requestId);
    if (loaded.outcome !== 'found') return;
    const { request } = loaded;
    const cards = request.views.flatMap(({ id, postedAt }) => {
      const { data } = PostedMessage.safeParse(postedAt);
      return data === undefined ? [] : [{ id, ...data }];
    });
    const card =
      cards.find(({ channel }) => channel === click.channel) ?? cards.find(({ id }) => id === THREAD_VIEW);
    if (card !== undefined && isBehind(request, card))
      await tellPrivately(context, to, noticeTexts.recordedFirst(verb, escapeMarkup(titleOf(request))));
  };
  setTimeout(
    () => void check().catch((err: unknown) => context.logger.debug({ requestId, err }, 'card not checked')),
    LATE_MS,
  ).unref();
}

/** Decides a click whose receiver acknowledged it and died before it was decided. */
export async function decideHeld(context: BotContext, item: OutboxItem & { kind: 'row' }): Promise<void> {
  const { made, replyTo } = HeldClick.parse(item.body);
  const notice = await applyDecision(context, made);
  if (notice !== undefined) await tellPrivately(context, replyTo, notice);
  await context.store.done(item);
}
