import type { Message } from '../../agent/messages.ts';
import type { ClaimedTurn, OutboxRow } from '../../store/port/values.ts';
import { endedUndos } from '../asks/undo-call.ts';
import type { RefusedCall } from '../ports.ts';
import { NOBODY } from '../task-people.ts';
import type { TurnContext } from './turn-context.ts';

/** The end of a turn as far as people are told of it beside the reply. */
interface TurnNotices {
  readonly refused?: readonly RefusedCall[];
  readonly requester?: string;
  readonly messages: readonly Message[];
}

/** Writes the rows that tell of refused calls, and of undos that have their results. */
export async function noticeRows(
  { messages: written }: Pick<TurnContext, 'messages'>,
  { threadId, token, messages: before }: Pick<ClaimedTurn, 'threadId' | 'token' | 'messages'>,
  { refused = [], requester = NOBODY, messages }: TurnNotices,
): Promise<OutboxRow[]> {
  const rows =
    refused.length === 0
      ? []
      : await written.rows(threadId, { code: 'refused', token, calls: refused, requester });
  const ended = await Promise.all(
    endedUndos(before, messages).map((undo) => written.rows(threadId, { code: 'undo-ended', ...undo })),
  );
  return [...rows, ...ended.flat()];
}
