import { generate } from '../agent/generate.ts';
import { type Message, userMessage } from '../agent/messages.ts';
import type { Model } from '../agent/model.ts';
import type { CloseReply, Resume } from '../agent/replies.ts';
import { settle } from '../agent/settle.ts';
import type { ToolContext } from '../agent/tool.ts';
import { withMessages } from '../agent/transcript.ts';
import type { NewRequest, TakenTurn, TurnEnd } from '../store/port.ts';
import type { BotParts } from './bot-parts.ts';
import { isSpent } from './is-spent.ts';
import { afterword } from './reply/afterword.ts';
import { refusalRows } from './reply/refusal-rows.ts';
import { replyRows } from './reply/reply-rows.ts';
import { ReplyStream } from './reply/reply-stream.ts';
import { Session } from './reply/session.ts';
import { planRequests, requesterOf } from './requests/plan-requests.ts';
import { repliesTo } from './requests/replies-to.ts';
import { takeExit } from './requests/take-exit.ts';
import { parseThreadId } from './thread.ts';
import { toolContext } from './tool-context.ts';

/** A turn as it is worked on: what it has to know, and the right to write it, which may still be on its way. */
export interface Turn extends Omit<TakenTurn, 'token'> {
  /** The token, once it is there; it rejects where another turn was given or none. */
  readonly granted: Promise<string>;
}

/**
 * The story of a turn: what people decided is settled, what they said is read, the model works, and what waits is asked. Before the
 * turn is granted nothing of it takes effect or can be seen.
 */
export async function workTurn(parts: BotParts, turn: Turn, signal: AbortSignal): Promise<TurnEnd> {
  const { toolbox } = parts;
  const unread = turn.inbox.filter((item) => !isSpent(item, turn.settled));
  if (unread.length === 0 && turn.settled.length === 0 && turn.inbox.length > 0)
    return { read: turn.inbox.length, messages: [] };
  const said = await Promise.all(unread.map(({ body }) => readAloud(parts, body)));
  const requester = requesterOf(said.length > 0 ? said : turn.messages);
  const context = toolContext(parts, turn.threadId, requester);

  // Nothing waited, so there is nothing to settle.
  if (turn.settled.length === 0)
    return letModelWork(parts, turn, withMessages(turn.messages, said), {
      requester,
      context,
      signal,
      refused: [],
    });

  // Every tool is needed here, also one that this person may not use: it may be the one that waits.
  const resume = repliesTo(turn.settled, turn.messages, toolbox.tools());
  // They were made for whoever had spoken then, whatever others have said since.
  const asked = toolContext(parts, turn.threadId, requesterOf(turn.messages));
  const settled = isEmpty(resume)
    ? turn
    : await settle({ messages: turn.messages, tools: toolbox.tools(), resume, context: asked, signal });
  const again = await ask(parts, turn, settled.messages, { anew: true });
  // What paused again is asked before anything else is read.
  if (again.requests.length > 0) {
    const rows = refusalRows(await granted(turn), again.refused);
    return { read: 0, messages: added(turn, again.messages), requests: again.requests, rows };
  }
  const { refused } = again;
  return letModelWork(parts, turn, withMessages(again.messages, said), {
    requester,
    context,
    signal,
    refused,
  });
}

interface Work {
  readonly requester: string;
  readonly context: ToolContext;
  readonly signal: AbortSignal;
  /** The calls of which the model is about to be told that nobody was asked to sign them. */
  readonly refused: readonly CloseReply[];
}

async function letModelWork(
  parts: BotParts,
  turn: Turn,
  history: readonly Message[],
  { requester, context, signal, refused }: Work,
): Promise<TurnEnd> {
  const { toolbox, client, logger } = parts;
  const { threadId } = turn;
  const thread = parseThreadId(threadId);
  const place = { channel: thread.channel, requester };
  const session = new Session(client, thread, logger);
  const begun = turn.granted.then(() =>
    Promise.all([session.is('processing', requester), session.says('is thinking…')]),
  );
  // Who waits for it hears of it; often nobody does.
  begun.catch(() => {});
  const stream = new ReplyStream(client, thread, await recipient(parts, requester), logger, begun);
  const { instructions, maxSteps, contextBudget } = parts.agent();
  const model: Model = {
    name: parts.model.name,
    reply: async (request) => {
      stream.pause();
      const reply = await parts.model.reply(request);
      // The model is asked at once; what it said takes effect when the turn is granted.
      await begun;
      return reply;
    },
  };

  let messages = history;
  const refusals = [...refused];
  for (;;) {
    const response = await generate({
      model,
      system: `${instructions}\n\n${toolbox.notice(place)}`,
      messages,
      tools: toolbox.toolsFor(place),
      context,
      maxSteps,
      contextBudget,
      signal,
      onText: (delta) => stream.push(delta),
      onProgress: ({ name, message }) => void session.says(`${name}: ${message}`),
      onToolError: ({ name, ref, error }) =>
        logger.warn({ threadId, name, ref, err: error }, 'a tool failed'),
    });
    const given = await granted(turn);
    const { token } = given;
    if (response.finishReason === 'model-error')
      logger.error({ threadId, token, err: response.error }, 'no answer from the model');
    const exit = await takeExit(response.messages);
    const asked = await ask(parts, turn, exit.messages);
    messages = asked.messages;
    refusals.push(...asked.refused);
    // Where nobody could be asked the model is told, and goes on.
    if (asked.refused.length > 0 && asked.requests.length === 0) continue;
    const status = asked.requests.length > 0 ? 'suspended' : 'active';
    // Before the turn is over: the next one may begin at once, and what it shows must be the last word.
    const [standing] = await Promise.all([stream.end(), session.ends(status)]);
    const words = [stream.text, afterword(response, `${threadId}/${token}`), exit.words];
    return {
      read: turn.inbox.length,
      messages: added(turn, messages),
      requests: asked.requests,
      rows: [
        ...refusalRows(given, refusals),
        ...replyRows(given, words.filter((text) => text !== '').join('\n\n'), standing, status),
      ],
    };
  }
}

/** Plans what has to be asked; a call that nobody is asked about is settled here. */
async function ask(
  parts: BotParts,
  turn: Turn,
  messages: readonly Message[],
  options: { readonly anew?: boolean } = {},
): Promise<{
  messages: readonly Message[];
  requests: readonly NewRequest[];
  refused: readonly CloseReply[];
}> {
  const { requests, refusals, joined } = await planRequests(parts, turn.threadId, messages, options);
  const close = [...refusals, ...joined];
  if (close.length === 0) return { messages, requests, refused: [] };
  const closed = await settle({ messages, tools: [], resume: { close } });
  return { messages: closed.messages, requests, refused: refusals };
}

async function granted(turn: Turn): Promise<{ readonly threadId: string; readonly token: string }> {
  return { threadId: turn.threadId, token: await turn.granted };
}

function isEmpty({ respond = [], restart = [], close = [] }: Resume): boolean {
  return respond.length + restart.length + close.length === 0;
}

function added(turn: Turn, messages: readonly Message[]): readonly Message[] {
  return messages.slice(turn.messages.length);
}

/** What somebody said, with their name: several people may speak in one thread. */
async function readAloud(
  { directory }: BotParts,
  body: { readonly [key: string]: unknown },
): Promise<Message> {
  const user = String(body.user);
  const name = await directory.member(user).then(
    (member) => member.name,
    () => user,
  );
  return userMessage(`${name}: ${String(body.text)}`, { user });
}

async function recipient(
  { directory }: BotParts,
  userId: string,
): Promise<{ userId: string; teamId: string }> {
  return { userId, teamId: await directory.ownTeam().catch(() => '') };
}
