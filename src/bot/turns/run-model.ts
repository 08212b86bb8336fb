import type { ToolProgress } from '../../agent/calls/run-call.ts';
import type { UserMessage } from '../../agent/messages.ts';
import type { Resume } from '../../agent/replies.ts';
import { settle } from '../../agent/settle.ts';
import { withMessages } from '../../agent/transcript.ts';
import { admitAnswers, concludeActions, followTasks } from '../../engine/paused.ts';
import { applyRevisions } from '../../engine/revisions.ts';
import { NOBODY, peopleOf, requestersOf } from '../../engine/task-people.ts';
import { TurnJournal } from '../../engine/turn-journal.ts';
import type { RunningTurn } from '../../engine/turn-lease.ts';
import type { ClaimedTurn, InboxItem, Settlement, TurnEnd } from '../../store/port/store.ts';
import { readableName } from '../../tools/presentation/formats.ts';
import { openRequests } from '../asks/plan/open-requests.ts';
import { repliesTo } from '../asks/replies-to.ts';
import type { BotContext } from '../context.ts';
import { endedUndoRows } from '../outbox/keep-undo.ts';
import { refusalRows } from '../outbox/reply-rows.ts';
import { stopRows } from '../outbox/stop-report.ts';
import { parseThreadId } from '../slack/thread.ts';
import { statusTexts } from '../views/texts/replies.ts';
import { callModel } from './call-model.ts';
import { deniedCalls, noteDenials } from './denials.ts';
import { engineContext, toolContext } from './engine-context.ts';
import { threadFiles } from './files/thread-files.ts';
import { filesIn, readAttachedFiles } from './intake/attached-files.ts';
import { quoteRevisions, tellOfRevisions, toUserMessages } from './intake/inbox-messages.ts';
import { knownIn, readChannelContext, readThreadContext } from './intake/thread-context.ts';

/** Settles what people decided, reads what they wrote, lets the model work, and returns what the turn adds to the record. */
export async function runModel(
  context: BotContext,
  turn: ClaimedTurn,
  { signal, lease, tidyUp }: RunningTurn,
): Promise<TurnEnd> {
  const { toolbox } = context;
  const hasOpenCalls = turn.effects.length > 0;
  const isContinued = turn.settled.length > 0 || hasOpenCalls;
  // People were checked when they wrote; a turn that goes on later asks Slack again.
  const directory = isContinued ? context.directory.fresh() : context.directory;
  const engine = engineContext({ ...context, directory });
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

  // All tools, also those that this person may not use: one of them may be waiting.
  const ended = await admitAnswers(engine, turn);
  const resume = repliesTo(ended, turn.messages, toolbox.tools());
  const settled =
    isEmpty(resume) && !hasOpenCalls
      ? turn
      : await settle({
          messages: turn.messages,
          tools: toolbox.tools(),
          resume,
          // The calls were made for the people who had written before them.
          context: toolContext(context, turn.threadId, peopleOf(turn.messages, toolbox)),
          signal,
          journal,
          files: threadFiles(context, turn.threadId, String(turn.messages.length)),
        });
  const followed = await followTasks(settled.messages, {
    tools: toolbox.tools(),
    context: toolContext(context, turn.threadId, peopleOf(turn.messages, toolbox)),
    signal,
    journal,
    files: threadFiles(context, turn.threadId, String(turn.messages.length)),
    onProgress: showProgress(context, turn.threadId),
  });
  if (!lease.isCut) await concludeActions(engine, turn, ended, followed);
  const again = await openRequests(context, turn.threadId, followed, { anew: true });
  // A call that paused again is asked before anything else is read.
  if (again.requests.length > 0) {
    const denied = deniedCalls(turn, again.messages);
    await noteDenials(context, turn.threadId, denied, again.messages);
    const [requester = NOBODY] = requestersOf(turn.messages, toolbox);
    return {
      ...journal.rest(again.messages, 0),
      requests: again.requests,
      rows: [
        ...refusalRows(turn, [...again.refused, ...denied], requester),
        ...endedUndoRows(turn, again.messages),
      ],
    };
  }
  const history = withMessages(again.messages, await readInbox());
  if (isStopped) {
    context.status.end(parseThreadId(turn.threadId), {
      session: 'active',
      isFollowed: false,
      isStreamed: false,
    });
    return {
      ...journal.rest(history, turn.inbox.length),
      rows: [...(await stopRows(context, turn, again.messages)), ...endedUndoRows(turn, again.messages)],
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

/** Shows the progress of a call in the status line of its thread. */
function showProgress({ status }: BotContext, threadId: string) {
  return ({ name, message }: ToolProgress): void =>
    status.setLine(parseThreadId(threadId), statusTexts.progress(readableName(name), message));
}

function isEmpty({ respond = [], restart = [], close = [] }: Resume): boolean {
  return respond.length + restart.length + close.length === 0;
}
