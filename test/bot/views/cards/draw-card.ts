import { buildCard } from '../../../../src/bot/views/cards/build-card.ts';
import type { CardOptions } from '../../../../src/bot/views/cards/card.ts';
import type { RequestRecord } from '../../../../src/store/port/request-record.ts';
import { actionsIn, expectValid, textIn } from './payloads.ts';
import { ASKED_AT, recordOf } from './records.ts';

export const inThread: CardOptions = { view: 'thread' };

/** Draws a card that Slack would take, with its text and its buttons. */
export function draw(changes: Partial<RequestRecord>, options: Partial<CardOptions> = {}) {
  const card = buildCard(recordOf(changes), { ...inThread, ...options });
  expectValid(card);
  return { ...card, said: textIn(card.blocks), actions: actionsIn(card.blocks) };
}

/** One approval. */
export const signed = [{ who: 'U0ALICE', decision: 'approve' as const, at: ASKED_AT + 60_000 }];
