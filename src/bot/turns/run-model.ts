import type { ToolProgress } from '../../agent/calls/run-call.ts';
import { generate } from '../../agent/generate.ts';
import type { Message, UserMessage } from '../../agent/messages.ts';
import type { Model } from '../../agent/model.ts';
import type { CloseReply, Resume } from '../../agent/replies.ts';
import { settle } from '../../agent/settle.ts';
import { Transcript, withMessages } from '../../agent/transcript.ts';
import { followSignals } from '../../agent/util/abort.ts';
import type { ClaimedTurn, InboxItem, Settlement, TurnEnd } from '../../store/port/store.ts';
import { readableName } from '../../tools/presentation/readable-name.ts';
import { concludeActions } from '../actions/conclude-actions.ts';
import { followTasks } from '../actions/follow-tasks.ts';
import { toolContext } from '../actions/tool-context.ts';
import type { BotContext } from '../context.ts';
import { endedUndoRows } from '../delivery/keep-undo.ts';
import { heldSettlements } from '../elicitation/held-settlements.ts';
import { StoredImages } from '../files/stored-images.ts';
import { threadFiles } from '../files/thread-files.ts';
import { filesIn, readAttachedFiles } from '../intake/attached-files.ts';
import { readChannelContext } from '../intake/channel-context.ts';
import { toUserMessages } from '../intake/inbox-messages.ts';
import { tellOfRevisions } from '../intake/revision-notices.ts';
import { applyRevisions, quoteRevisions } from '../intake/revisions.ts';
import { readThreadContext } from '../intake/thread-context.ts';
import { addresseesIn } from '../reply/addressing.ts';
import { finishNotice } from '../reply/finish-notice.ts';
import { refusalRows } from '../reply/refusal-rows.ts';
import { joinTexts, replyRows } from '../reply/reply-rows.ts';
import { ReplyStream, type StreamRecipient } from '../reply/reply-stream.ts';
import { stopText } from '../reply/stop-report.ts';
import { StreamWatch } from '../reply/stream-watch.ts';
import { TurnProgress } from '../reply/turn-progress.ts';
import { openRequests } from '../requests/plan/open-requests.ts';
import { repliesTo } from '../requests/replies-to.ts';
import { everyoneIn, NOBODY, peopleOf, requestersOf } from '../requests/task-people.ts';
import { undoReply } from '../requests/undo-call.ts';
import { parseThreadId } from '../slack/thread.ts';
import { replyTexts, statusTexts } from '../texts/replies.ts';
import { settleCompletedTask } from './complete-task.ts';
import { deniedCalls, noteDenials } from './denials.ts';
import { reportModelFailure } from './report-model-failure.ts';
import { systemText } from './system-text.ts';
import { budgetedModel } from './token-budget.ts';
import { TurnJournal } from './turn-journal.ts';
import type { TurnLease } from './turn-lease.ts';

/** Settles what people decided, reads what they wrote, lets the model work, and returns what the turn adds to the record. */
export async function runModel(
  context: BotContext,
  turn: ClaimedTurn,
  { signal, lease, tidyUp }: RunningTurn,
): Promise<TurnEnd> {
  const { toolbox } = context;
  const journal = new TurnJournal(context, turn, lease);
  const hasOpenCalls = turn.effects.length > 0;
  const inbox = applyRevisions(turn.inbox);
  const unread = inbox.messages.filter((item) => !isConsumed(item, turn.settled));
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
  if (turn.settled.length === 0 && !hasOpenCalls) {
    const received = await readInbox();
    const history = withMessages(turn.messages, received);
    // Nobody asked for anything: what others wrote after the last answer is kept for the next task.
    if (requestersOf(history).length === 0) return { read: turn.inbox.length, messages: received };
    return callModel(context, turn, history, { ...call, refused: [] });
  }

  // All tools, also those that this person may not use: one of them may be waiting.
  const ended = await heldSettlements(context, turn);
  const resume = repliesTo(ended, turn.messages, toolbox.tools());
  const settled =
    isEmpty(resume) && !hasOpenCalls
      ? turn
      : await settle({
          messages: turn.messages,
          tools: toolbox.tools(),
          resume,
          // The calls were made for the people who had written before them.
          context: toolContext(context, turn.threadId, peopleOf(turn.messages)),
          signal,
          journal,
          files: threadFiles(context, turn.threadId, String(turn.messages.length)),
        });
  const followed = await followTasks(settled.messages, {
    tools: toolbox.tools(),
    context: toolContext(context, turn.threadId, peopleOf(turn.messages)),
    signal,
    journal,
    files: threadFiles(context, turn.threadId, String(turn.messages.length)),
    onProgress: showProgress(context, turn.threadId),
  });
  if (!lease.isCut) await concludeActions(context, turn, ended, followed);
  const again = await openRequests(context, turn.threadId, followed, { anew: true });
  // A call that paused again is asked before anything else is read.
  if (again.requests.length > 0) {
    const denied = deniedCalls(turn, again.messages);
    await noteDenials(context, turn.threadId, denied, again.messages);
    const [requester = NOBODY] = requestersOf(turn.messages);
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
  return callModel(context, turn, history, { ...call, refused: again.refused });
}

/** Tells whether an inbox item has had its effect, so that the model need not read it: a stop, or a written answer. */
function isConsumed({ body }: InboxItem, settled: readonly Settlement[]): boolean {
  if (body.stops === true) return true;
  return settled.some(
    ({ requestId, state, by }) => requestId === body.answers && state === 'answered' && by === body.user,
  );
}

/** The means of a turn to be stopped and to keep its lease. */
export interface RunningTurn {
  readonly signal: AbortSignal;
  readonly lease: TurnLease;
  /** Adds what has to end with the turn: `end` when its end is on record, and `leave` in any case. */
  readonly tidyUp: (what: { end(): Promise<void>; leave(): void }) => void;
}

interface ModelCall extends RunningTurn {
  readonly journal: TurnJournal;
  /** Calls that were refused without asking anybody; the model is told. */
  readonly refused: readonly CloseReply[];
}

async function callModel(
  context: BotContext,
  turn: ClaimedTurn,
  history: readonly Message[],
  { signal, lease, journal, refused, tidyUp }: ModelCall,
): Promise<TurnEnd> {
  const { toolbox, client, status, logger } = context;
  const { threadId, token } = turn;
  const reference = `${threadId}/${token}`;
  journal.read = turn.inbox.length;
  const thread = parseThreadId(threadId);
  const people = peopleOf(history);
  context.turns.setRequesters(threadId, people.requesters);
  const [requester = NOBODY, ...others] = everyoneIn(people);
  const place = { channel: thread.channel, requester, others };
  const title = turn.messages.length === 0 ? turn.inbox[0]?.body.text : undefined;
  status.begin(thread, {
    initiator: requester,
    isNew: turn.messages.length === 0,
    isContinued: turn.settled.length > 0,
    ...(typeof title === 'string' && title.trim() !== '' && { title }),
  });
  const addressees = addresseesIn(history);
  const watch = new StreamWatch(context, turn);
  tidyUp(watch);
  const stream = new ReplyStream(client, thread, () => recipient(context, requester), logger, {
    addressees,
    beforeStart: () => watch.prepare(),
    onStart: (ts) => watch.begin(ts),
  });
  const progress = new TurnProgress(toolbox, stream, (line) => status.setLine(thread, line));
  const { maxSteps, feedback } = context.agent();
  const { model: own, contextBudget } = context.modelFor(thread.channel);
  const spentBefore = () => Transcript.of(history).usage.totalTokens;
  const budgeted = budgetedModel(context, turn, { requester, spentBefore });
  const images = new StoredImages(context.store, threadId);
  let undo = undoReply(history);
  const model: Model = {
    name: own.name,
    async reply(request) {
      stream.pause();
      if (undo !== undefined) {
        const reply = undo;
        undo = undefined;
        progress.running(reply);
        return reply;
      }
      progress.thinking();
      const history = await images.show(request.history);
      const either = followSignals([signal, lease.handOver]);
      const reply = await budgeted.reply({ ...request, history, signal: either.signal }).finally(either.end);
      if (lease.handOver.aborted && reply.finish === 'aborted') lease.cut();
      const { model: answered = own.name, finish, usage } = reply;
      logger.info({ threadId, token, model: answered, finish, usage }, 'model answered');
      progress.running(reply);
      return reply;
    },
  };

  let messages = history;
  const refusals = [...refused];
  for (;;) {
    const response = await generate({
      model,
      system: systemText(context, place),
      messages,
      tools: toolbox.toolsFor(place),
      context: toolContext(context, threadId, people),
      maxSteps,
      contextBudget,
      signal,
      journal,
      files: threadFiles(context, threadId, String(turn.messages.length)),
      onText: (delta) => stream.push(delta),
      onProgress: (reported) => progress.report(reported),
      onToolError({ name, ref, error }) {
        logger.warn({ threadId, name, ref, err: error }, 'tool failed');
        progress.failed(ref);
      },
    });
    if (response.finishReason === 'model-error') {
      logger.error({ threadId, token, err: response.error }, 'model failed');
      await reportModelFailure(context, response.error, reference);
    }
    const followed = await followTasks(response.messages, {
      tools: toolbox.tools(),
      context: toolContext(context, threadId, people),
      signal,
      journal,
      files: threadFiles(context, threadId, String(turn.messages.length)),
      onProgress: (reported) => progress.report(reported),
    });
    if (followed !== response.messages && !signal.aborted && !Transcript.of(followed).isWaiting) {
      messages = followed;
      continue;
    }
    const completed = await settleCompletedTask(followed);
    progress.end(
      response.interrupts.map(({ toolRequest }) => toolRequest.ref),
      { isStopped: response.finishReason === 'aborted' },
    );
    const [asked, posted] = await Promise.all([
      openRequests(context, threadId, completed.messages),
      stream.end(),
    ]);
    messages = asked.messages;
    refusals.push(...asked.refused);
    // Nobody could be asked: the model is told, and continues.
    if (asked.refused.length > 0 && asked.requests.length === 0) continue;
    const session = asked.requests.length > 0 ? 'suspended' : 'active';
    const notice =
      response.finishReason === 'aborted'
        ? stopText(context, response.messages)
        : finishNotice(response, reference);
    const text = joinTexts([stream.text, notice, completed.text]);
    const denied = deniedCalls(turn, messages);
    await noteDenials(context, threadId, denied, messages);
    const refusedCalls = [...refusals, ...denied];
    const isSilent = text === '' && asked.requests.length === 0 && refusedCalls.length === 0;
    const rows = [
      ...refusalRows(turn, refusedCalls, requester),
      ...replyRows(turn, isSilent ? replyTexts.empty : text, posted, {
        ...{ session, requester, addressees },
        feedback: feedback && session === 'active' && response.finishReason === 'stop',
      }),
    ];
    const isFollowed = asked.requests.length + rows.length > (posted === undefined ? 0 : 1);
    status.end(thread, { session, isFollowed, isStreamed: posted !== undefined });
    return {
      ...journal.rest(messages, turn.inbox.length),
      requests: asked.requests,
      rows: [...rows, ...endedUndoRows(turn, messages)],
    };
  }
}

/** Shows the progress of a call in the status line of its thread. */
function showProgress({ status }: BotContext, threadId: string) {
  return ({ name, message }: ToolProgress): void =>
    status.setLine(parseThreadId(threadId), statusTexts.progress(readableName(name), message));
}

function isEmpty({ respond = [], restart = [], close = [] }: Resume): boolean {
  return respond.length + restart.length + close.length === 0;
}

/** Names the person whom a reply is streamed to, with their own workspace: in a shared channel it may be another one. */
async function recipient({ directory }: BotContext, userId: string): Promise<StreamRecipient> {
  const team = (await directory.relaxed().member(userId)).team ?? (await directory.ownTeam());
  return { userId, teamId: team };
}
