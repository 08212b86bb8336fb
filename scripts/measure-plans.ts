import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startLocalModel } from '../playground/model/start-local-model.ts';
import { CAST, CHANNELS } from '../playground/slack/default-cast.ts';
import { startPlayground } from '../playground/start-playground.ts';

const { alice, requester: remi } = CAST;
const tickets = fileURLToPath(new URL('../test/stories/fixtures/ticket-tools.ts', import.meta.url));
const STEPS = Array.from({ length: 12 }, (_, index) => ({
  tool: 'close_ticket',
  input: { ticket: `T-${1_040 + index}`, customer: ['Acme', 'Bolt & Sons', 'Casa Verde'][index % 3] ?? '' },
}));
/** Words that a person reads in a minute, and the seconds that a click takes. */
const PACE = { words: 200, click: 1 };
const TIMEOUT_MS = 300_000;

interface Measured {
  readonly way: string;
  readonly cards: number;
  readonly clicks: number;
  readonly calls: number;
  readonly seconds: number;
}

/** Lets somebody close twelve tickets, and counts what that takes of people and of Slack. */
async function measure(way: string, together: boolean): Promise<Measured> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-plans-'));
  process.env.TICKETS_FILE = join(folder, 'tickets');
  const manifest = join(folder, 'manifest.yml');
  writeFileSync(
    manifest,
    `slack: { display_information: { name: Countersign } }
agent: { instructions: Help., limits: { pending_per_thread: 20 } }
policies: { default: { approvers: [${alice}], notify: { direct_messages: false } } }
tools: { desk: { module: ${tickets}, approval: { policy: default } } }
`,
  );
  const model = await startLocalModel({
    models: ['scripted'],
    script: ({ messages }) => {
      if (messages.some(({ role }) => role === 'tool')) return { text: 'All of them are closed.' };
      if (together)
        return {
          calls: [{ name: 'propose_plan', arguments: { goal: 'Close answered tickets', steps: STEPS } }],
        };
      return { calls: STEPS.map(({ tool, input }) => ({ name: tool, arguments: input })) };
    },
  });
  const { REDIS_URL: _shared, ...env } = process.env;
  const playground = await startPlayground({
    ...{ port: 0, dataFolder: join(folder, 'data'), manifest, reset: false, log: () => {} },
    env: { ...env, OPENAI_API_KEY: 'scripted', OPENAI_BASE_URL: model.url, OPENAI_MODEL: 'scripted' },
  });
  try {
    const { workspace } = playground.slack;
    const before = workspace.calls.length;
    const { ts } = workspace
      .as(remi)
      .send(CHANNELS.general, `<@${workspace.state.app.botUserId}> close them`);
    const cardsNow = () =>
      workspace.messagesIn(CHANNELS.general, ts).filter(({ text }) => text.startsWith('Approval needed'));
    const wanted = together ? 1 : STEPS.length;
    const waiting = { what: 'the cards', timeoutMs: TIMEOUT_MS };
    const cards = await workspace.until(
      () => (cardsNow().length === wanted ? cardsNow() : undefined),
      waiting,
    );
    const words = cards
      .flatMap(({ blocks }) => JSON.stringify(blocks).match(/(?<="text":")[^"]+/g) ?? [])
      .join(' ');
    for (const card of cards)
      await workspace.as(alice).click({ channel: card.channel, ts: card.ts }, 'approve');
    const isOver = () =>
      workspace.messagesIn(CHANNELS.general, ts).find(({ text }) => text.includes('All of them'));
    await workspace.until(isOver, { what: 'the end', timeoutMs: TIMEOUT_MS });
    const read = (60 * words.split(/\s+/).length) / PACE.words;
    const seconds = Math.round(read + cards.length * PACE.click);
    return {
      way,
      cards: cards.length,
      clicks: cards.length,
      calls: workspace.calls.length - before,
      seconds,
    };
  } finally {
    await playground.stop();
    await model.stop().catch(() => {});
    rmSync(folder, { recursive: true, force: true });
  }
}

const rows = [await measure('a card each', false), await measure('a plan', true)];
console.log('| twelve tickets | cards | clicks | calls of Slack | seconds for the approver |');
console.log('| --- | ---: | ---: | ---: | ---: |');
for (const { way, cards, clicks, calls, seconds } of rows)
  console.log(`| ${[way, cards, clicks, calls, seconds].join(' | ')} |`);
