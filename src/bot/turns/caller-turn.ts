import { generate } from '../../agent/generate.ts';
import { toJson } from '../../agent/json.ts';
import { type UserMessage, userMessage } from '../../agent/messages.ts';
import type { Model, ModelReply } from '../../agent/model.ts';
import { settle } from '../../agent/settle.ts';
import { withMessages } from '../../agent/transcript.ts';
import {
  CALL_REF,
  type CallerCall,
  callIn,
  callMessage,
  parseCallerThread,
  webhookRow,
  wordsMessage,
} from '../../engine/caller-threads.ts';
import { admitAnswers, concludeActions, followTasks } from '../../engine/paused.ts';
import { withSteps } from '../../engine/plans.ts';
import { channelOf } from '../../engine/ports.ts';
import { peopleOf } from '../../engine/task-people.ts';
import { TurnJournal } from '../../engine/turn-journal.ts';
import type { RunningTurn } from '../../engine/turn-lease.ts';
import type { ClaimedTurn, InboxItem, TurnEnd } from '../../store/port/store.ts';
import { openRequests } from '../asks/plan/open-requests.ts';
import { repliesTo } from '../asks/replies-to.ts';
import { undoReply } from '../asks/undo-call.ts';
import type { BotContext } from '../context.ts';
import { endedUndoRows } from '../outbox/keep-undo.ts';
import { deniedCalls, noteDenials } from './denials.ts';
import { engineContext, toolContext } from './engine-context.ts';

/** The call, one for each requested undo, and the end. */
const MAX_STEPS = 10;

/** Tells whether a thread is one of a caller's request; no model works in it. */
export function isCallerThread(threadId: string): boolean {
  return parseCallerThread(threadId) !== undefined;
}

/**
 * Makes the call of a caller, settles what people decided about it, and keeps the result for the caller. It is a turn like any other:
 * only the model's part is played by the caller, who makes one call and then is done.
 */
export async function runCallerTurn(
  context: BotContext,
  turn: ClaimedTurn,
  running: RunningTurn,
): Promise<TurnEnd> {
  const end = await runCall(context, turn, running);
  const { threadId, token } = turn;
  if (!hasWebhook(context, threadId)) return end;
  return { ...end, rows: [...(end.rows ?? []), webhookRow(threadId, token)] };
}

/** Tells whether the caller of a thread is told of changes. */
export function hasWebhook({ toolbox }: Pick<BotContext, 'toolbox'>, threadId: string): boolean {
  return toolbox.callers().get(parseCallerThread(threadId)?.caller ?? '')?.webhook !== undefined;
}

async function runCall(
  context: BotContext,
  turn: ClaimedTurn,
  { signal, lease }: RunningTurn,
): Promise<TurnEnd> {
  const { toolbox } = context;
  const { threadId, inbox } = turn;
  const isContinued = turn.settled.length > 0 || turn.effects.length > 0;
  const directory = isContinued ? context.directory.fresh() : context.directory;
  const engine = engineContext({ ...context, directory });
  const journal = new TurnJournal(engine, turn, lease);
  const settings = () => ({
    tools: toolbox.tools(),
    // The calls were made for the people who had written before them.
    context: toolContext(context, threadId, peopleOf(turn.messages, toolbox)),
    signal,
    journal,
  });
  let { messages } = turn;
  if (isContinued) {
    const ended = await admitAnswers(engine, turn);
    const resume = repliesTo(ended, messages, toolbox.tools());
    const settled = await settle({ ...settings(), messages, resume });
    messages = await followTasks(settled.messages, settings());
    if (!lease.isCut) await concludeActions(engine, turn, ended, messages);
    const again = await openRequests(context, threadId, messages, { anew: true });
    messages = again.messages;
    if (again.requests.length > 0) {
      await noteDenials(context, threadId, deniedCalls(turn, messages), messages);
      return {
        ...journal.rest(messages, 0),
        requests: again.requests,
        rows: endedUndoRows(turn, messages),
      };
    }
  }
  const asked = turn.messages.length === 0 ? callIn(inbox) : undefined;
  const received = [
    ...(asked === undefined ? [] : [callMessage(asked.call, asked.isWithdrawn)]),
    ...inbox.flatMap(undoMessage),
    ...inbox.flatMap(wordsMessage),
  ];
  const history = withMessages(messages, received);
  const isAsked = received.some(({ metadata }) => metadata?.role === 'requester');
  if (!(isAsked || isContinued) || asked?.isWithdrawn === true) return journal.rest(history, inbox.length);
  journal.read = inbox.length;
  await toolbox.refreshGroups();
  const people = peopleOf(history, toolbox);
  const called = { ...settings(), context: toolContext(context, threadId, people) };
  const place = { ...people, channel: channelOf(threadId) };
  const response = await generate({
    ...called,
    model: callingModel(asked?.call, undoReply(history), (reply) =>
      withSteps(toolbox, place, reply, { ref: CALL_REF }),
    ),
    messages: history,
    maxSteps: MAX_STEPS,
  });
  const followed = await followTasks(response.messages, called);
  // How much a caller may ask for was counted when it asked.
  const opened = await openRequests(context, threadId, followed, { anew: true });
  await noteDenials(context, threadId, deniedCalls(turn, opened.messages), opened.messages);
  return {
    ...journal.rest(opened.messages, inbox.length),
    requests: opened.requests,
    rows: endedUndoRows(turn, opened.messages),
  };
}

/** Builds the message of a person who takes back what a caller's request did. */
function undoMessage({ id, body }: InboxItem): readonly UserMessage[] {
  const { undoes, user, text } = body;
  if (undoes === undefined) return [];
  return [userMessage(String(text), { user: String(user), role: 'requester', ts: id, undoes })];
}

/** Stands in place of a model: makes the caller's call or a person's undo, and says that it is done. */
function callingModel(
  call: CallerCall | undefined,
  undo: ModelReply | undefined,
  planned: (reply: ModelReply) => ModelReply,
): Model {
  const own = call && {
    id: CALL_REF,
    name: call.tool,
    arguments: JSON.stringify(toJson(call.input)),
  };
  const replies: ModelReply[] = [
    ...(own === undefined ? [] : [planned(replyOf(call?.why ?? '', [own]))]),
    ...(undo === undefined ? [] : [undo]),
  ];
  return {
    name: call?.caller ?? 'undo',
    reply: async () => replies.shift() ?? replyOf('Done.', []),
  };
}

function replyOf(text: string, calls: ModelReply['calls']): ModelReply {
  return { finish: 'stop', text, calls, usage: undefined };
}
