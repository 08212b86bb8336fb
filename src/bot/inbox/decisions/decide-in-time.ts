import { z } from 'zod';
import { toJson } from '../../../agent/json.ts';
import { withTimeout } from '../../../agent/util/abort.ts';
import { MadeDecision } from '../../../engine/decision.ts';
import { threadOf } from '../../../store/port/keys.ts';
import type { OutboxItem, OutboxRow } from '../../../store/port/values.ts';
import type { BotContext } from '../../context.ts';
import { isBehind, PostedMessage } from '../../outbox/posted-message.ts';
import { PrivatePlace, tellPrivately } from '../../outbox/private-notice.ts';
import { titleOf } from '../../views/cards/card-details.ts';
import { noticeTexts } from '../../views/texts/notices.ts';
import { escapeMarkup } from '../../views/texts/show-text.ts';
import { THREAD_VIEW } from '../../views/view-ids.ts';
import type { Notice } from './click.ts';
import { applyDecision } from './decision.ts';

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
  const { requestId, click } = made;
  const notice = await ackOnRecord(context, applyDecision(context, made), {
    row: {
      id: `${requestId}/click/${click.who}/${click.id}`,
      body: { kind: DECISION, made: toJson(made), replyTo: toJson(replyTo) },
    },
    place: threadOf(requestId) ?? '',
    withinMs,
    ack,
  });
  if (notice === undefined) tellIfLate(context, made, replyTo);
  return notice;
}

/**
 * Acknowledges a click when what it does is on record. What takes longer is held as a row of the outbox meanwhile, and acknowledged then;
 * if this process dies, another one does it.
 */
export async function ackOnRecord<Result extends Notice>(
  { store, timing, logger }: Pick<BotContext, 'store' | 'timing' | 'logger'>,
  applied: Promise<Result>,
  {
    row,
    place,
    withinMs,
    ack,
  }: Acknowledgement & {
    readonly row: OutboxRow;
    /** The thread whose messages it comes after, or a name of its own. */
    readonly place: string;
  },
): Promise<Result> {
  const inTime = await withTimeout(
    applied.then((result) => ({ result })),
    withinMs,
  );
  if (inTime !== undefined) {
    await ack(inTime.result);
    return inTime.result;
  }
  const held = await store.enqueueOutbox(place, row, timing.claimMs).catch((err: unknown) => {
    logger.warn({ row: row.id, err }, 'click not recorded before it was carried out');
    return undefined;
  });
  if (held !== undefined) await ack();
  const result = await applied;
  if (held === undefined) await ack();
  else await store.done(held);
  return result;
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
