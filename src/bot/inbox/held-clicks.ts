import { z } from 'zod';
import { toJson } from '../../agent/json.ts';
import { revokeGrant } from '../../engine/asks/grants.ts';
import type { OutboxItem } from '../../store/port/values.ts';
import type { BotContext } from '../context.ts';
import { PrivatePlace, tellPrivately } from '../outbox/private-notice.ts';
import { END_DELEGATION, REVOKE, UNFREEZE } from '../views/cards/action-ids.ts';
import { revokedText } from '../views/texts/grants.ts';
import { escapeMarkup } from '../views/texts/show-text.ts';
import { ackOnRecord } from './decisions/decide-in-time.ts';
import { endByClick } from './delegate.ts';
import { answerFreezeCommand, unfreezeByClick } from './freeze.ts';

/** The kind of an outbox row that holds a click or a command until it is carried out. */
export const HELD_CLICK = 'held-click';
/** The slash command that freezes and unfreezes. */
export const FREEZE_COMMAND = 'freeze';

type Act = (
  context: BotContext,
  value: string,
  click: { readonly who: string; readonly id: string },
) => Promise<string>;

/** Lists what people change beside requests; each may be carried out twice. It returns the sentence for the person. */
const ACTS = {
  [UNFREEZE]: async (context, value, click) => escapeMarkup(await unfreezeByClick(context, value, click)),
  [END_DELEGATION]: endByClick,
  [REVOKE]: async (context, value, click) => revokedText(await revokeGrant(context, value, click)),
  [FREEZE_COMMAND]: async (context, value, click) =>
    escapeMarkup(await answerFreezeCommand(context, value, click)),
} satisfies Record<string, Act>;

const Held = z.object({
  act: z.enum([UNFREEZE, END_DELEGATION, REVOKE, FREEZE_COMMAND]),
  /** The value of the button, or the text of the command. */
  value: z.string(),
  click: z.object({ who: z.string(), id: z.string() }),
  replyTo: PrivatePlace,
});
export type HeldClick = Readonly<z.infer<typeof Held>>;

/** Carries out a click, and acknowledges it when that, or the click, is on record; returns the sentence for the person. */
export function carryOutInTime(
  context: BotContext,
  held: HeldClick,
  ack: () => Promise<void>,
): Promise<string> {
  const { act, value, click, replyTo } = held;
  const body = { kind: HELD_CLICK, act, value, click: toJson(click), replyTo: toJson(replyTo) };
  return ackOnRecord(context, ACTS[act](context, value, click), {
    row: { id: `click/${click.who}/${click.id}`, body },
    place: 'clicks',
    withinMs: context.timing.ackWithinMs.click,
    ack,
  });
}

/** Carries out a click whose receiver acknowledged it and died before. */
export async function carryOutHeld(context: BotContext, item: OutboxItem & { kind: 'row' }): Promise<void> {
  const { act, value, click, replyTo } = Held.parse(item.body);
  await tellPrivately(context, replyTo, await ACTS[act](context, value, click));
  await context.store.done(item);
}
