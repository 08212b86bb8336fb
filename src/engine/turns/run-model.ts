import type { UserMessage } from '../../agent/messages.ts';
import { withMessages } from '../../agent/transcript.ts';
import type { ClaimedTurn, InboxItem, Settlement, TurnEnd } from '../../store/port/values.ts';
import { checkedPeople } from '../asks/checked-people.ts';
import { applyRevisions } from '../revisions.ts';
import { NOBODY, peopleOf, requestersOf } from '../task-people.ts';
import { TurnJournal } from '../turn-journal.ts';
import type { RunningTurn } from '../turn-lease.ts';
import { callModel } from './call-model.ts';
import { continueCalls } from './continue-calls.ts';
import { threadFiles } from './files/thread-files.ts';
import { filesIn, readAttachedFiles } from './intake/attached-files.ts';
import { quoteRevisions, tellOfRevisions, toUserMessages } from './intake/inbox-messages.ts';
import { quoteVotes } from './intake/quote-votes.ts';
import { knownIn, readChannelContext, readThreadContext } from './intake/thread-context.ts';
import { noticeRows } from './notice-rows.ts';
import { toolContext } from './tool-context.ts';
import type { TurnContext } from './turn-context.ts';

/** Settles what people decided, reads what they wrote, lets the model work, and returns what the turn adds to the record. */
export async function runModel(
  context: TurnContext,
  turn: ClaimedTurn,
  { signal, lease, tidyUp }: RunningTurn,
): Promise<TurnEnd> {
  const { toolbox } = context;
  const hasOpenCalls = turn.effects.length > 0;
  const isContinued = turn.settled.length > 0 || hasOpenCalls;
  // People were checked when they wrote; a turn that goes on later looks them up again.
  const directory = isContinued ? context.directory.fresh() : context.directory;
  const engine = { ...context, directory, people: checkedPeople(directory, context.agent) };
  const journal = new TurnJournal(engine, turn, lease);
  const inbox = applyRevisions(turn.inbox);
  const known = new Set(knownIn(turn.messages));
  const unread = inbox.messages.filter((item) => !isConsumed(item, turn.settled) && !known.has(item.id));
  const names = context.directory.relaxed();
  await tellOfRevisions(context, turn.threadId, turn.messages, inbox.late);
  const revised = () => quoteRevisions(names, turn.messages, inbox.late);
  if (unread.length === 0 && turn.settled.length === 0 && turn.inbox.length > 0 && !hasOpenCalls)
    return { read: turn.inbox.length, messages: await revised() };
  const readInbox = async (): Promise<readonly UserMessage[]> => {
    const { messages, readTo, files } = await readThreadContext(context, turn, unread, signal);
    const attached = [...files, ...filesIn(inbox.messages.filter(({ body }) => body.stops !== true))];
    return [
      ...(await readChannelContext(context, turn)),
      ...messages,
      ...(await readAttachedFiles(context, turn, attached, signal)),
      ...(await revised()),
      ...(await toUserMessages(names, turn.messages, unread, readTo)),
    ];
  };
  const call = { signal, lease, journal, tidyUp };
  const isStopped = isStoppedBy(turn, unread, requestersOf(turn.messages, toolbox));
  if (!isContinued) {
    const received = await readInbox();
    const history = withMessages(turn.messages, received);
    // Nobody asked for anything: what others wrote is kept for the next task.
    if (isStopped || received.every(({ metadata }) => metadata?.role !== 'requester'))
      return { read: turn.inbox.length, messages: received };
    return callModel(context, turn, history, { ...call, refused: [] });
  }

  const settings = () => ({
    // The calls were made for the people who had written before them.
    context: toolContext(context, turn.threadId, peopleOf(turn.messages, toolbox)),
    signal,
    journal,
    files: threadFiles(context, turn.threadId, String(turn.messages.length)),
  });
  const { again, asked } = await continueCalls(engine, turn, { lease, journal, settings });
  if (asked !== undefined) {
    const [requester = NOBODY] = requestersOf(turn.messages, toolbox);
    const refused = [...again.refused, ...asked.denied];
    const told = { refused, requester, messages: again.messages };
    return { ...asked.end, rows: await noticeRows(context, turn, told) };
  }
  const history = withMessages(again.messages, [
    ...(await quoteVotes(context, turn.settled)),
    ...(await readInbox()),
  ]);
  if (isStopped) {
    context.places.stopped(turn.threadId);
    const withdrawn = turn.settled
      .filter(({ state }) => state === 'withdrawn')
      .map(({ requestId }) => requestId);
    const { messages } = again;
    return {
      ...journal.rest(history, turn.inbox.length),
      rows: [
        ...(await context.messages.rows(turn.threadId, { code: 'stopped', withdrawn, messages })),
        ...(await noticeRows(context, turn, { messages })),
      ],
    };
  }
  return callModel(context, turn, history, { ...call, refused: again.refused });
}

/** Tells whether an inbox item has had its effect, so that the model need not read it: a stop, or a written answer. */
function isConsumed({ body }: InboxItem, settled: readonly Settlement[]): boolean {
  if (body.stops === true) return true;
  return settled.some(
    ({ requestId, state, by }) => requestId === body.answers && state === 'answered' && by === body.user,
  );
}

/**
 * Tells whether a requester has stopped the task and nobody has instructed the bot since: what was decided and what ran is read, and the
 * model is not called.
 */
function isStoppedBy(
  { inbox, messages }: ClaimedTurn,
  unread: readonly InboxItem[],
  requesters: readonly string[],
): boolean {
  const at = inbox.findLastIndex(({ body }) => body.stops === true);
  const who = inbox[at]?.body.user;
  if (typeof who !== 'string' || (messages.length > 0 && !requesters.includes(who))) return false;
  return unread.every((item) => {
    const { user, role } = item.body;
    const instructs = role === 'requester' || (typeof user === 'string' && requesters.includes(user));
    return !instructs || (user === who && inbox.indexOf(item) < at);
  });
}
