import type { SlackResponse } from '../shared/call-slack.ts';
import { ADDRESS, CELL, CODE, END, SENTENCE, UPDATED } from './sample-reply.ts';

type Node = Readonly<Record<string, unknown>>;

/** The results of a try: Slack's answers by name, and the messages of the thread as Slack returns them. */
export interface Tried {
  readonly channel: string;
  readonly mark: string;
  readonly answers: Readonly<Record<string, Pick<SlackResponse, 'ok' | 'error' | 'body'>>>;
  readonly read: readonly Node[];
}

/** Something that must be as it is here: `check` says what differs, if anything does. */
export interface Expectation {
  readonly name: string;
  readonly check: (tried: Tried) => string | undefined;
  /** Without a `warning` the bot still does its work. */
  readonly status: 'failed' | 'warning';
  readonly means: string;
  readonly fix: string;
}

const PLAN =
  'agents need a paid plan; without it take "agent_view" out of the app (slack: { features: { agent_view: } })';
const REINSTALL = 'run "countersign doctor" for missing scopes, and install the app again';
const REPORT = 'report it with this line; no setting changes it';

/** Everything that is compared, in the order in which it is printed. */
export const EXPECTED: readonly Expectation[] = [
  {
    name: 'session',
    check: refused('session'),
    status: 'warning',
    fix: PLAN,
    means: 'Slack shows no Stop and no list of sessions; "stop" in words works',
  },
  {
    name: 'status',
    check: refused('status'),
    status: 'warning',
    fix: PLAN,
    means: 'nobody sees that the agent is thinking, before its answer',
  },
  {
    name: 'stream',
    check: refused('stream', 'append', 'stream parts', 'stop'),
    status: 'warning',
    means: 'answers appear whole at their end',
    fix: 'nothing: the bot posts what it cannot stream',
  },
  {
    name: 'one paragraph',
    check: cutSentence,
    status: 'warning',
    means: 'sentences of streamed answers are cut in two paragraphs',
    fix: REPORT,
  },
  {
    name: 'reply',
    check: refused('reply', 'markdown'),
    status: 'failed',
    means: 'nobody is answered',
    fix: REINSTALL,
  },
  {
    name: 'tables',
    check: missingTable,
    status: 'warning',
    means: 'people see bars and dashes in place of a table',
    fix: REPORT,
  },
  {
    name: 'links',
    check: brokenLink,
    status: 'failed',
    means: 'links with several parameters lead elsewhere',
    fix: REPORT,
  },
  {
    name: 'code',
    check: changedText(CODE, 'code'),
    status: 'failed',
    means: 'people read other code than the agent wrote',
    fix: REPORT,
  },
  {
    name: 'bold',
    check: asterisks,
    status: 'warning',
    means: 'asterisks show beside Chinese, Japanese and Korean words',
    fix: REPORT,
  },
  {
    name: 'long text',
    check: changedText(END, 'long text'),
    status: 'failed',
    means: 'the end of long answers is missing',
    fix: REPORT,
  },
  { name: 'card', check: refused('card'), status: 'failed', means: 'nobody can be asked', fix: REPORT },
  {
    name: 'update',
    check: notUpdated,
    status: 'failed',
    means: 'cards stay as they were when people decide',
    fix: REINSTALL,
  },
  {
    name: 'marks',
    check: lostMarks,
    status: 'failed',
    means: 'a message whose answer was lost is posted twice',
    fix: REPORT,
  },
  {
    name: 'ephemeral',
    check: refused('ephemeral'),
    status: 'failed',
    means: 'people are not told why their click did nothing',
    fix: 'make the admin a member of the channel',
  },
  {
    name: 'reaction',
    check: refused('reaction'),
    status: 'warning',
    means: 'people do not see that a message waits',
    fix: 'add the scope reactions:write',
  },
  {
    name: 'file',
    check: refused('file'),
    status: 'warning',
    means: 'tools cannot hand over files',
    fix: 'add the scope files:write',
  },
  {
    name: 'direct message',
    check: refused('direct message'),
    status: 'failed',
    means: 'approvers and admins are not told',
    fix: 'add the scope im:write; turn the messages tab on',
  },
  {
    name: 'home',
    check: refused('home'),
    status: 'failed',
    means: 'nobody has an inbox',
    fix: 'turn the Home tab on (App Home of the app)',
  },
  {
    name: 'user groups',
    check: refused('user groups'),
    status: 'warning',
    means: 'no user group can approve or be allowed',
    fix: 'name people; user groups need a paid plan and usergroups:read',
  },
  { name: 'read', check: refused('read'), status: 'failed', means: 'threads are not read', fix: REINSTALL },
  {
    name: 'cleanup',
    check: refused('cleanup'),
    status: 'warning',
    means: 'something of this check is left',
    fix: 'delete it by hand',
  },
];

function refused(...names: readonly string[]): Expectation['check'] {
  return ({ answers }) => {
    const found = names.find((name) => answers[name]?.ok === false);
    return found === undefined ? undefined : `${found}: ${answers[found]?.error ?? 'refused'}`;
  };
}

/** Returns the messages in which a text was sent, by a beginning that no other has. */
function messagesWith(tried: Tried, start: string): Node[] {
  return tried.read.filter((message) => textOf(message).includes(start));
}

function cutSentence(tried: Tried): string | undefined {
  if (tried.answers.append?.ok !== true) return undefined;
  const [stream] = messagesWith(tried, SENTENCE[0].trim());
  if (stream === undefined) return 'the streamed text is not in the thread';
  const whole = SENTENCE.join('').trim();
  return blocksIn(stream).some((block) => textOf(block).includes(whole))
    ? undefined
    : 'one sentence in two calls became two blocks';
}

function replies(tried: Tried): Node[] {
  return messagesWith(tried, 'Salt');
}

function missingTable(tried: Tried): string | undefined {
  const found = replies(tried).filter((message) => textOf(message).includes(CELL));
  const isTable = (message: Node) =>
    nodesIn(message).some(
      ({ type, text }) => type === 'table' || type === 'data_table' || isMarkdownOf(text, type),
    );
  const without = found.filter((message) => !isTable(message));
  return without.length === 0 ? undefined : `${without.length} of ${found.length} tables came back as text`;
}

/** A block that is still Markdown says nothing of how it is drawn. */
function isMarkdownOf(text: unknown, type: unknown): boolean {
  return type === 'markdown' && typeof text === 'string' && text.includes(CELL);
}

function brokenLink(tried: Tried): string | undefined {
  const wrong = replies(tried).filter((message) => {
    const urls = nodesIn(message).flatMap(({ url }) => (typeof url === 'string' ? [url] : []));
    return !urls.includes(ADDRESS) && !textOf(message).includes(ADDRESS);
  });
  return wrong.length === 0 ? undefined : `${ADDRESS} came back changed`;
}

function changedText(text: string, name: string): Expectation['check'] {
  return (tried) => {
    const wrong = replies(tried).filter((message) => !withoutEntities(textOf(message)).includes(text));
    return wrong.length === 0 ? undefined : `the ${name} came back changed`;
  };
}

function asterisks(tried: Tried): string | undefined {
  const drawn = replies(tried).flatMap((message) => nodesIn(message).filter(({ type }) => type === 'text'));
  return drawn.some(({ text }) => typeof text === 'string' && text.includes('**'))
    ? 'bold text came back with asterisks'
    : undefined;
}

function notUpdated(tried: Tried): string | undefined {
  const answer = refused('update')(tried);
  if (answer !== undefined || tried.answers.update === undefined) return answer;
  return tried.read.some(({ text }) => text === UPDATED) ? undefined : 'the message came back as it was';
}

function lostMarks(tried: Tried): string | undefined {
  if (tried.answers.reply?.ok !== true || tried.answers.read?.ok !== true) return undefined;
  const isMarked = nodesIn(tried.read).some(({ item }) => item === tried.mark);
  return isMarked ? undefined : 'the metadata of a message did not come back';
}

function blocksIn({ blocks }: Node): Node[] {
  return Array.isArray(blocks) ? blocks.filter(isNode) : [];
}

/** Joins everything in a message that people read. */
function textOf(node: Node): string {
  return nodesIn(node.blocks ?? node)
    .flatMap(({ text, url }) => [
      ...(typeof text === 'string' ? [text] : []),
      ...(typeof url === 'string' ? [url] : []),
    ])
    .join('');
}

function nodesIn(value: unknown): Node[] {
  if (Array.isArray(value)) return value.flatMap(nodesIn);
  return isNode(value) ? [value, ...Object.values(value).flatMap(nodesIn)] : [];
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function withoutEntities(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}
