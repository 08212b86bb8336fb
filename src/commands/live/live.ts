import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';
import { buildCard } from '../../bot/views/cards/build-card.ts';
import { proxiedFetch, readProxy } from '../../tools/http/proxy.ts';
import { type Finding, failed, firstLineOf, notChecked, ok } from '../checks/finding.ts';
import { callSlack, RateLimited, type SlackResponse } from '../shared/call-slack.ts';
import { EXPECTED, type Expectation, type Tried } from './expectations.ts';
import { REPLY, SENTENCE, UPDATED } from './sample-reply.ts';
import { specimen, specimens } from './specimens.ts';

/** A finding of the live check: what differs, what it means for people, and what to do. */
export interface LiveFinding extends Finding {
  readonly means?: string;
}

const CHECK = 'live';
/** The longest that a call waits for Slack's limits altogether. */
const PATIENCE_S = 120;

type Answer = Pick<SlackResponse, 'ok' | 'error' | 'body'>;
type Arguments = Readonly<Record<string, unknown>>;

/** Calls Slack as the bot does, and waits where Slack limits the rate. An outage is an answer too. */
class Caller {
  readonly #token: string;
  readonly #environment: NodeJS.ProcessEnv;
  /** The seconds that Slack made it wait. */
  waited = 0;

  constructor(token: string, environment: NodeJS.ProcessEnv) {
    this.#token = token;
    this.#environment = environment;
  }

  async call(method: string, args: Arguments): Promise<Answer> {
    const form = Object.fromEntries(
      Object.entries(args).flatMap(([name, value]) =>
        value === undefined ? [] : [[name, typeof value === 'string' ? value : JSON.stringify(value)]],
      ),
    );
    for (let waited = 0; ; ) {
      try {
        return await callSlack(method, this.#token, form, this.#environment);
      } catch (error) {
        if (!(error instanceof RateLimited) || waited + error.seconds > PATIENCE_S)
          return { ok: false, error: firstLineOf(error), body: {} };
        waited += error.seconds;
        this.waited += error.seconds;
        await wait(error.seconds * 1_000);
      }
    }
  }

  async upload(address: string, bytes: string): Promise<boolean> {
    const response = await proxiedFetch(readProxy(this.#environment))(address, {
      method: 'POST',
      body: bytes,
      redirect: 'error',
      signal: AbortSignal.timeout(15_000),
      headers: { 'content-type': 'application/octet-stream' },
    }).catch(() => undefined);
    await response?.body?.cancel();
    return response?.status === 200;
  }
}

/**
 * Tries in a channel of the real Slack all that the bot does there, reads what Slack made of it, compares, and deletes it. Slack is asked
 * first whether it takes a specimen of everything that the bot shows.
 */
export async function checkLive(
  channel: string,
  environment: NodeJS.ProcessEnv,
  admin: string | undefined,
): Promise<LiveFinding[]> {
  const { SLACK_BOT_TOKEN: token = '' } = environment;
  if (token === '') return [notChecked(CHECK, 'SLACK_BOT_TOKEN is not set')];
  if (admin === undefined)
    return [notChecked(CHECK, 'agent.admins of the manifest names nobody to send a direct message to')];
  const caller = new Caller(token, environment);
  const tried = await tryOut(caller, channel, admin);
  if (typeof tried === 'string')
    return [
      failed(CHECK, `nothing could be posted in ${channel}: ${tried}`, {
        fix: 'name a channel that the bot is a member of (/invite it), as #name or by its id',
      }),
    ];
  const differing = EXPECTED.flatMap((expected) => findingOf(expected, tried));
  const cards = await validateAll(caller, { person: admin, channel: tried.channel });
  const limited =
    caller.waited === 0
      ? []
      : [ok('live limits', `Slack made this check wait ${caller.waited} seconds; it went on`)];
  return [...cards, ...differing, ...limited];
}

function findingOf({ name, check, status, means, fix }: Expectation, tried: Tried): LiveFinding[] {
  const differs = check(tried);
  if (differs === undefined) return [ok(`live ${name}`, 'as expected')];
  return [{ check: `live ${name}`, status, message: differs, means, fix }];
}

const Errors = z.array(z.object({ pointer: z.string().catch(''), message: z.string().catch('') })).catch([]);
const AT_ONCE = 4;

/** Asks Slack about a specimen of every card, modal and Home in every state; nothing is posted. */
async function validateAll(caller: Caller, cast: Parameters<typeof specimens>[0]): Promise<LiveFinding[]> {
  const all = specimens(cast);
  const refused: string[] = [];
  const next = all[Symbol.iterator]();
  const work = async (): Promise<void> => {
    for (const { name, part, payload } of next) {
      const { ok: isTaken, error, body } = await caller.call('blocks.validate', { [part]: payload });
      if (isTaken) continue;
      const reasons = Errors.parse(body.errors).map(({ pointer, message }) => `${message} (${pointer})`);
      refused.push(`${name}: ${[error, ...reasons].join('; ')}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  const check = 'live cards';
  if (refused.length === 0)
    return [ok(check, `Slack takes all ${all.length} specimens of cards, modals and Home`)];
  return refused.map((message) => ({
    check,
    status: 'failed' as const,
    message,
    means: 'people would not see it, or an older state of it',
    fix: 'report it with this line; nobody can repair it by a setting',
  }));
}

const Posted = z.object({ ts: z.string(), channel: z.string() });
const Ids = z.object({ team_id: z.string().catch(''), user_id: z.string().catch('') });
const Messages = z.object({ messages: z.array(z.record(z.string(), z.unknown())) });
const Opened = z.object({ channel: z.object({ id: z.string() }) });
const Upload = z.object({ upload_url: z.string(), file_id: z.string() });

/** Posts one thread, does in it what the bot does, reads it, and deletes it. The text says why nothing could be posted. */
async function tryOut(caller: Caller, channel: string, admin: string): Promise<Tried | string> {
  const { body: identity } = await caller.call('auth.test', {});
  const { team_id: team, user_id: bot } = Ids.parse(identity);
  const mark = `live-${Date.now()}`;
  const metadata = { event_type: 'countersign', event_payload: { item: mark } };
  const root = await caller.call('chat.postMessage', {
    channel,
    metadata,
    text: 'Countersign tries out what it does here. This thread is deleted in a moment.',
  });
  if (!root.ok) return root.error;
  const { ts: threadTs, channel: id } = Posted.parse(root.body);
  const place = { channel_id: id, thread_ts: threadTs };
  const thread = { channel: id, thread_ts: threadTs };
  const answers: Record<string, Answer> = {};
  const attempt: Attempt = async (name, method, args) => {
    const answer = await caller.call(method, args);
    answers[name] = answer;
    return answer;
  };
  const ownFiles: string[] = [];
  const directMessages: { channel: string; ts: string }[] = [];
  let read: Record<string, unknown>[] = [];
  try {
    await attempt('session', 'agents.sessions.setStatus', {
      ...place,
      status: 'processing',
      title: 'A try',
      initiator_user_id: admin,
    });
    await attempt('status', 'assistant.threads.setStatus', { ...place, status: 'is trying things out…' });
    await tryStream(attempt, { thread, admin, team });
    await attempt('reply', 'chat.postMessage', {
      ...thread,
      text: 'A reply',
      blocks: REPLY.blocks,
      metadata,
    });
    await attempt('markdown', 'chat.postMessage', { ...thread, markdown_text: REPLY.markdown, metadata });
    const cast = { person: admin, channel: id };
    const card = await attempt('card', 'chat.postMessage', {
      ...thread,
      ...buildCard(specimen('pending', cast), { view: 'thread' }),
      metadata,
    });
    if (card.ok)
      await attempt('update', 'chat.update', {
        channel: id,
        ts: Posted.parse(card.body).ts,
        text: UPDATED,
        metadata,
        blocks: buildCard(specimen('rejected', cast), { view: 'thread' }).blocks,
      });
    await attempt('ephemeral', 'chat.postEphemeral', { ...thread, user: admin, text: 'Only you see this.' });
    await attempt('reaction', 'reactions.add', { channel: id, timestamp: threadTs, name: 'eyes' });
    const address = await attempt('file', 'files.getUploadURLExternal', { filename: 'try.txt', length: '4' });
    const { data: upload } = Upload.safeParse(address.body);
    if (upload !== undefined) {
      ownFiles.push(upload.file_id);
      if (!(await caller.upload(upload.upload_url, 'try\n')))
        answers.file = { ok: false, error: 'the upload failed', body: {} };
      else
        await attempt('file', 'files.completeUploadExternal', {
          ...place,
          files: [{ id: upload.file_id, title: 'try.txt' }],
        });
    }
    const opened = await attempt('direct message', 'conversations.open', { users: admin });
    const { data: direct } = Opened.safeParse(opened.body);
    if (direct !== undefined) {
      const sent = await attempt('direct message', 'chat.postMessage', {
        channel: direct.channel.id,
        text: 'Countersign tries out direct messages.',
      });
      if (sent.ok) directMessages.push(Posted.parse(sent.body));
    }
    await attempt('home', 'views.publish', { user_id: admin, view: homeView(cast) });
    await attempt('user groups', 'usergroups.list', {});
    const replies = await attempt('read', 'conversations.replies', {
      channel: id,
      ts: threadTs,
      include_all_metadata: 'true',
      limit: '100',
    });
    read = Messages.safeParse(replies.body).data?.messages ?? [];
  } finally {
    answers.cleanup = await deleteAll(caller, { id, threadTs, read, bot, ownFiles, directMessages });
  }
  return { channel: id, mark, answers, read };
}

/** Makes one call and keeps its answer under a name. */
type Attempt = (name: string, method: string, args: Arguments) => Promise<Answer>;

/** Streams a reply as a turn does: it is started, continued twice and ended. */
async function tryStream(
  attempt: Attempt,
  {
    thread,
    admin,
    team,
  }: {
    readonly thread: { readonly channel: string; readonly thread_ts: string };
    readonly admin: string;
    readonly team: string;
  },
): Promise<void> {
  const stream = await attempt('stream', 'chat.startStream', {
    ...thread,
    task_display_mode: 'plan',
    recipient_user_id: admin,
    recipient_team_id: team,
    chunks: [{ type: 'markdown_text', text: SENTENCE[0] }],
  });
  if (!stream.ok) return;
  const { channel } = thread;
  const { ts } = Posted.parse(stream.body);
  await attempt('append', 'chat.appendStream', {
    channel,
    ts,
    chunks: [{ type: 'markdown_text', text: SENTENCE[1] }],
  });
  await attempt('stream parts', 'chat.appendStream', { channel, ts, chunks: REPLY.chunks });
  await attempt('stop', 'chat.stopStream', { channel, ts, session_status: 'active' });
}

function homeView(cast: Parameters<typeof specimens>[0]): object {
  return specimens(cast).findLast(({ name }) => name === 'Home, empty')?.payload ?? {};
}

/** Deletes what was posted, the newest first, so that no message is left without its thread. */
async function deleteAll(
  caller: Caller,
  made: {
    readonly id: string;
    readonly threadTs: string;
    readonly read: readonly Readonly<Record<string, unknown>>[];
    readonly bot: string;
    readonly ownFiles: readonly string[];
    readonly directMessages: readonly { readonly channel: string; readonly ts: string }[];
  },
): Promise<Answer> {
  const own = made.read.filter(({ user }) => user === made.bot).map(({ ts }) => String(ts));
  const posted = [...new Set([made.threadTs, ...own])].sort().reverse();
  const messages = [...made.directMessages, ...posted.map((ts) => ({ channel: made.id, ts }))];
  const left: string[] = [];
  for (const file of made.ownFiles) {
    const deleted = await caller.call('files.delete', { file });
    if (!deleted.ok && deleted.error !== 'file_not_found') left.push(`file ${file} (${deleted.error})`);
  }
  for (const { channel, ts } of messages) {
    const deleted = await caller.call('chat.delete', { channel, ts });
    if (!deleted.ok && deleted.error !== 'message_not_found') left.push(`message ${ts} (${deleted.error})`);
  }
  return left.length === 0
    ? { ok: true, error: '', body: {} }
    : { ok: false, error: left.join(', '), body: {} };
}
