import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, vi } from 'vitest';
import type { ChatRequest } from '../../playground/model/chat-request.ts';
import type { ModelReply } from '../../playground/model/model-reply.ts';
import { type RunningBot, startBot } from '../../src/start-bot.ts';
import { CAST, PLACES, startStory } from '../stories/support.ts';
import { clickCard } from '../support/click-card.ts';
import { countFor } from '../support/count-for.ts';
import { seed } from '../support/seed.ts';
import { EVIL_HOST, PAYLOAD } from './corpus.ts';
import { type Known, nodesIn, wrongIn } from './oracle.ts';

/** Refusals of a private notice to somebody whose click names a place that they are not in; they are answered otherwise. */
const NOWHERE = ['user_not_in_channel', 'thread_not_found'];

/** Whom a record may name, and where our own links may lead. */
export const KNOWN: Known = {
  ids: [...Object.values(CAST), ...Object.values(PLACES)],
  links: new RegExp(`^https?://(?!(?:[^/]*\\.)?${EVIL_HOST.replace('.', '\\.')})[^/]+/archives/`),
};

/** The policies of every stage; tools are added below them. */
const POLICIES = `
slack: { display_information: { name: Countersign } }
agent: { instructions: Help., limits: { pending_per_thread: 1000, pending_per_person: 1000 } }
policies:
  default: { approvers: [${CAST.alice}, ${CAST.bruno}], expires: 4h, notify: { direct_messages: false } }
  two: { approvers: [${CAST.alice}, ${CAST.bruno}], quorum: 2, expires: 1h, notify: { direct_messages: false } }
  announced: { approvers: [${CAST.alice}, ${CAST.bruno}], notify: { direct_messages: false, announce: [${PLACES.releases}] } }
`;

/** The model's inputs in order: the person's messages and the results of its calls. */
export interface Told {
  readonly said: string;
  readonly results: readonly string[];
}

export interface StageOptions {
  /** Whether Slack posts to the bot; it speaks over sockets unless asked to. */
  readonly mode?: 'http';
  /** The tools section of the manifest, indented by two. */
  readonly tools?: string;
  /** The model's answers in order. */
  readonly reply: (row: number, told: Told) => ModelReply;
}

export type Stage = Awaited<ReturnType<typeof startStage>>;
export type Thread = ReturnType<Stage['begin']>;
type Story = Awaited<ReturnType<typeof startStory>>;
type Message = Awaited<ReturnType<ReturnType<Story['ask']>['shows']>>;

const AT_ONCE = 4;
const FIRST_CLICK_MS = 30_000;
/** More would be a flood. */
const MOST_IN_A_THREAD = 20;
const STILL_HERE = 'Still here.';

/** Starts the whole product with a model that plays rows: a row is a thread that begins with `row` and its number. */
export async function startStage({ tools = '', reply, mode }: StageOptions) {
  const folder = mkdtempSync(join(tmpdir(), 'hostile-'));
  const effects = join(folder, 'effects');
  vi.stubEnv('HOSTILE_EFFECTS', effects);
  onTestFinished(() => {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true, force: true });
  });
  const manifest = tools === '' ? POLICIES : `${POLICIES}tools:\n${tools}`;
  const replies = (request: ChatRequest): ModelReply => {
    const { row, told } = toldIn(request);
    return row === undefined ? { text: STILL_HERE } : reply(row, told);
  };
  const app = { socketMode: mode !== 'http' };
  const story = await startStory({
    manifest,
    replies,
    slack: { app },
    withoutBot: true,
    timing: { ackWithinMs: { click: 30_000, submission: 30_000 } },
  });
  const bot = await (mode === 'http' ? startPostedBot(story) : story.startOwnBot());
  const { workspace } = story;
  const screens = new Map<string, Promise<unknown>>();
  const recordOf = async (card: Message) => {
    const loaded = await bot.context.store.load(requestIdIn(card));
    if (loaded.outcome !== 'found') throw new Error(`The request of a card is ${loaded.outcome}`);
    return loaded.request;
  };

  return {
    ...story,
    bot,
    recordOf,
    /** Begins a row; what the person says besides is for the model to read. */
    begin: (row: number, text = '', channel: string = PLACES.general) =>
      story.ask(`row ${row} ${text}`, { channel }),
    /** The actions of the fixtures' tools, one line each. */
    effects: () => readFileSync(effects, { encoding: 'utf8', flag: 'a+' }).split('\n').slice(0, -1),
    /** Lets nobody else use this person's screen meanwhile: they have one modal in front of them at a time. */
    async atScreenOf<Result>(who: string, work: () => Promise<Result>): Promise<Result> {
      const before = screens.get(who) ?? Promise.resolve();
      const working = before.then(work);
      screens.set(
        who,
        working.catch(() => undefined),
      );
      return working;
    },
    /** Clicks something that opens a modal, and gives it; clicks again if none comes, as people do while the machine is busy. */
    async open(who: string, card: Message, actionId: string) {
      const before = workspace.modalOf(who)?.id;
      const opened = async (timeoutMs?: number) => {
        await clickCard(workspace, who, card, actionId);
        return workspace.until(
          () => {
            const modal = workspace.modalOf(who);
            return modal?.id === before ? undefined : modal;
          },
          { what: `the modal of ${actionId}`, ...(timeoutMs !== undefined && { timeoutMs }) },
        );
      };
      return opened(FIRST_CLICK_MS).catch(() => opened());
    },
    /** The copy of a card in the channel where it is announced. */
    announced: (card: Message) =>
      workspace.until(
        ({ state }) =>
          state.messages.find(
            (message) =>
              message.channel === PLACES.releases &&
              hasAction(message, 'reject') &&
              requestIdIn(message) === requestIdIn(card),
          ),
        { what: 'the announced card' },
      ),
    /** Everything that Details shows of a card, over all its pages. */
    async detailsOf(who: string, card: Message): Promise<unknown[]> {
      return this.atScreenOf(who, async () => {
        let view = await this.open(who, card, 'details');
        const blocks: unknown[] = [...view.blocks];
        while (hasAction(view, 'next-page')) {
          const { hash, id } = view;
          await workspace.as(who).click({ viewId: id }, 'next-page');
          view = await workspace.until(
            () => {
              const modal = workspace.modalOf(who);
              return modal?.hash === hash ? undefined : modal;
            },
            { what: 'the next page' },
          );
          blocks.push(...view.blocks);
        }
        await workspace.as(who).close(view.id);
        return blocks;
      });
    },
    async withdraw(card: Message) {
      await clickCard(workspace, CAST.requester, card, 'withdraw');
      await workspace.until(() => !hasAction(card, 'withdraw'), { what: 'the withdrawn card' });
    },
    /** Nothing that was shown is alive or hidden, and the bot answers whoever comes next. */
    async expectUnharmed() {
      const asked = story.ask('are you there?', { as: CAST.alice });
      await asked.shows(new RegExp(STILL_HERE));
      const sent = workspace
        .payloads()
        .filter(({ by, name }) => by !== 'call' || !name.startsWith('users.'))
        .filter(({ name, error = '' }) => name !== 'chat.postEphemeral' || !NOWHERE.includes(error));
      expect([...new Set(wrongIn(sent, KNOWN))]).toEqual([]);
      const threads = new Map<string, number>();
      for (const { thread_ts = '' } of workspace.state.messages)
        threads.set(thread_ts, (threads.get(thread_ts) ?? 0) + 1);
      threads.delete('');
      expect(Math.max(...threads.values())).toBeLessThanOrEqual(MOST_IN_A_THREAD);
      // Unless something hostile was shown at all, this has proved nothing.
      expect(JSON.stringify(sent)).toContain(PAYLOAD);
    },
  };
}

/** A bot that Slack posts to, signed. */
async function startPostedBot({ setup, slack, workspace }: Story): Promise<RunningBot> {
  const { botToken, signingSecret, apiUrl } = slack;
  const settings = { ...setup.settings, slack: { mode: 'http', botToken, signingSecret, apiUrl } as const };
  const bot = await startBot({ ...setup, settings });
  onTestFinished(() => bot.stop());
  await workspace.changeRequestUrl(`http://127.0.0.1:${bot.port}/slack/events`);
  return bot;
}

function toldIn({ messages }: ChatRequest): { readonly row: number | undefined; readonly told: Told } {
  const words = messages.flatMap(({ role, content }) => (role === 'user' ? [String(content)] : []));
  const [first = ''] = words;
  const row = /\brow (\d+)/.exec(first)?.[1];
  const results = messages.flatMap(({ role, content }) => (role === 'tool' ? [String(content)] : []));
  return { row: row === undefined ? undefined : Number(row), told: { said: first, results } };
}

/** Calls as a model streams them, each in one chunk: in many, a megabyte takes long. */
export function callsOf(
  text: string,
  ...calls: { readonly name: string; readonly arguments: unknown }[]
): ModelReply {
  const chunk = (delta: object, finish_reason: string | null = null) => {
    const choices = [{ index: 0, delta, finish_reason }];
    const body = {
      id: 'chatcmpl-1',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'scripted',
      choices,
    };
    return `data: ${JSON.stringify(body)}\n\n`;
  };
  const made = calls.map(({ name, arguments: given }, index) => {
    const bytes = typeof given === 'string' ? given : JSON.stringify(given);
    return {
      index,
      id: `call_${randomUUID()}`.slice(0, 40),
      type: 'function',
      function: { name, arguments: bytes },
    };
  });
  return {
    chunksRaw: [
      chunk({ role: 'assistant', content: text }),
      chunk({ tool_calls: made }),
      chunk({}, 'tool_calls'),
      'data: [DONE]\n\n',
    ],
  };
}

/** One of so many items is played at each entry, from another one on with another seed. */
const EVERY = countFor('HOSTILE_EVERY', { quick: 2, full: 2 });

/** Plays the items, a few at a time, and gives what became of each by name. */
export async function playAll<Item extends { readonly name: string }, Outcome>(
  items: readonly Item[],
  play: (item: Item, row: number) => Promise<Outcome>,
): Promise<Map<string, Outcome>> {
  const outcomes = new Map<string, Outcome>();
  const left = [...items.entries()].filter(([row]) => row % EVERY === Math.abs(seed) % EVERY);
  const next = async (): Promise<void> => {
    for (let taken = left.shift(); taken !== undefined; taken = left.shift()) {
      const [row, item] = taken;
      outcomes.set(
        item.name,
        await play(item, row).catch((error: unknown) => {
          throw new Error(`"${item.name}" could not be played`, { cause: error });
        }),
      );
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, next));
  return outcomes;
}

export function hasAction({ blocks }: Pick<Message, 'blocks'>, actionId: string): boolean {
  return nodesIn(blocks).some(
    ({ action_id, value, text }) => action_id === actionId || (value === actionId && text !== undefined),
  );
}

/** The request that a card is of: its buttons carry the id. */
export function requestIdIn({ blocks }: Pick<Message, 'blocks'>): string {
  const value = nodesIn(blocks).find(({ type }) => type === 'button')?.value;
  if (typeof value !== 'string') throw new Error('The card has no button');
  return value;
}
