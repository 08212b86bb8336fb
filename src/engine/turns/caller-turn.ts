import { toJson } from '../../agent/json.ts';
import {
  MESSAGE_VERSION,
  type Message,
  sealMessage,
  type UserMessage,
  userMessage,
} from '../../agent/messages.ts';
import type { RawCall } from '../../agent/model.ts';
import { callTools } from '../../agent/run-steps.ts';
import { Transcript, withMessages } from '../../agent/transcript.ts';
import type { ClaimedTurn, InboxItem, TurnEnd } from '../../store/port/values.ts';
import type { CallPlace } from '../../tools/gate.ts';
import type { Toolbox } from '../../tools/toolbox/toolbox.ts';
import { checkedPeople } from '../asks/checked-people.ts';
import { undoReply } from '../asks/undo-call.ts';
import {
  CALL_REF,
  type CallerCall,
  callIn,
  callMessage,
  hasWebhook,
  webhookRow,
  wordsMessage,
} from '../caller-threads.ts';
import { followTasks } from '../paused.ts';
import { withSteps } from '../plans.ts';
import { channelOf } from '../ports.ts';
import { everyoneIn, peopleOf } from '../task-people.ts';
import { TurnJournal } from '../turn-journal.ts';
import type { RunningTurn } from '../turn-lease.ts';
import { continueCalls } from './continue-calls.ts';
import { deniedCalls, noteDenials } from './denials.ts';
import { noticeRows } from './notice-rows.ts';
import { toolContext } from './tool-context.ts';
import type { TurnContext } from './turn-context.ts';

/**
 * Makes the call of a caller, settles what people decided about it, and keeps the result for the caller. No model is asked.
 */
export async function runCallerTurn(
  context: TurnContext,
  turn: ClaimedTurn,
  running: RunningTurn,
): Promise<TurnEnd> {
  const end = await runCall(context, turn, running);
  const { threadId, token } = turn;
  if (!hasWebhook(context.toolbox, threadId)) return end;
  return { ...end, rows: [...(end.rows ?? []), webhookRow(threadId, token)] };
}

async function runCall(
  context: TurnContext,
  turn: ClaimedTurn,
  { signal, lease }: RunningTurn,
): Promise<TurnEnd> {
  const { toolbox } = context;
  const { threadId, inbox } = turn;
  const isContinued = turn.settled.length > 0 || turn.effects.length > 0;
  const directory = isContinued ? context.directory.fresh() : context.directory;
  const engine = { ...context, directory, people: checkedPeople(directory, context.agent) };
  const journal = new TurnJournal(engine, turn, lease);
  const settings = (history: readonly Message[]) => ({
    context: toolContext(context, threadId, peopleOf(history, toolbox)),
    signal,
    journal,
  });
  let { messages } = turn;
  if (isContinued) {
    const { again, asked } = await continueCalls(engine, turn, {
      lease,
      journal,
      settings: () => settings(turn.messages),
    });
    messages = again.messages;
    if (asked !== undefined) return { ...asked.end, rows: await noticeRows(context, turn, { messages }) };
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
  const place = { ...peopleOf(history, toolbox), channel: channelOf(threadId) };
  await toolbox.refreshPeople(everyoneIn(place));
  const called = { ...settings(history), tools: toolbox.tools() };
  const calls = asked === undefined ? (undoReply(history)?.calls ?? []) : callsOf(asked.call, toolbox, place);
  const made = Transcript.of(history).isWaiting
    ? history
    : await callTools({ ...called, messages: history, calls, text: asked?.call.why });
  const followed = await followTasks(ended(made), called);
  // How much a caller may ask for was counted when it asked.
  const opened = await context.asks.open(threadId, followed, { anew: true });
  await noteDenials(context, threadId, deniedCalls(turn, opened.messages), opened.messages);
  return {
    ...journal.rest(opened.messages, inbox.length),
    requests: opened.requests,
    rows: await noticeRows(context, turn, { messages: opened.messages }),
  };
}

/** Builds the message of a person who takes back what a caller's request did. */
function undoMessage({ id, body }: InboxItem): readonly UserMessage[] {
  const { undoes, user, text } = body;
  if (undoes === undefined) return [];
  return [userMessage(String(text), { user: String(user), role: 'requester', ts: id, undoes })];
}

/** Writes the call of a caller; a plan is written with the calls of its steps beside it. */
function callsOf(
  { tool, input, why = '' }: CallerCall,
  toolbox: Toolbox,
  place: CallPlace,
): readonly RawCall[] {
  const call = { id: CALL_REF, name: tool, arguments: JSON.stringify(toJson(input)) };
  const reply = { finish: 'stop' as const, text: why, calls: [call], usage: undefined };
  return withSteps(toolbox, place, reply, { ref: CALL_REF }).calls;
}

/** Ends the part of a request in which nothing waits, so that a later undo is asked for by the person who clicked it, and by nobody else. */
function ended(messages: readonly Message[]): readonly Message[] {
  if (Transcript.of(messages).isWaiting) return messages;
  const content = [{ text: 'Done.' }];
  return [...messages, sealMessage({ v: MESSAGE_VERSION, role: 'model', content })];
}
