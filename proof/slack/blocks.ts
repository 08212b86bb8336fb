import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { isJsonObject, type JsonObject, tryParseJson } from '../../src/agent/json.ts';
import { fail, newTally, type Suite } from '../suite.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const CHECK = fileURLToPath(new URL('check_blocks.py', import.meta.url));
const Verdict = z.object({ id: z.number(), problem: z.string().nullable() });

/** A block, a modal or a Home that the bot has sent. */
interface Sent {
  readonly kind: 'block' | 'view';
  readonly value: JsonObject;
  readonly name: string;
}

/** Why a model of python-slack-sdk does not take what Slack takes. */
const REASONS: readonly (readonly [RegExp, string])[] = [];

/** Everything that the stories send, through the models that Slack's own Python SDK has of blocks and views. */
export const pythonBlocks: Suite = {
  name: 'Block models of python-slack-sdk, on every card, modal and Home of the stories',
  source: 'slackapi/python-slack-sdk at ae87985e2c38 (3.43.0)',
  hole: 'every text of a block is 4,000 characters longer',
  given: 'python-slack-sdk',
  async run({ isLoosened, folder }) {
    const tally = newTally();
    stories ??= playStories();
    const sent = await stories;
    const judged = isLoosened ? sent.map(lengthened) : sent;
    for (const { id, problem } of await judge(judged, folder)) {
      const name = judged[id]?.name;
      if (problem === null) tally.passed += 1;
      else fail(tally, `${name}: ${problem}`, REASONS.find(([pattern]) => pattern.test(problem))?.[1]);
    }
    return tally;
  },
};

let stories: Promise<readonly Sent[]> | undefined;

/** Runs the stories of the quick form, which keep what the bot sent, and gives each block and view once. */
async function playStories(): Promise<readonly Sent[]> {
  const kept = mkdtempSync(join(tmpdir(), 'countersign-payloads-'));
  try {
    const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
    const run = spawn(process.execPath, [vitest, 'run', 'test/stories'], {
      cwd: ROOT,
      env: { ...process.env, COUNTERSIGN_PAYLOADS: kept },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const code = await new Promise((resolve) => run.once('close', resolve));
    if (code !== 0) throw new Error(`the stories fail, with status ${String(code)}`);
    const found = new Map<string, Sent>();
    for (const file of readdirSync(kept))
      for (const line of readFileSync(join(kept, file), 'utf8').split('\n'))
        for (const each of sentIn(tryParseJson(line))) found.set(JSON.stringify(each.value), each);
    return [...found.values()];
  } finally {
    rmSync(kept, { recursive: true, force: true });
  }
}

function* sentIn(line: unknown): Generator<Sent> {
  if (!isJsonObject(line) || !isJsonObject(line.payload)) return;
  const { name, payload } = line;
  const { view } = payload;
  if (isJsonObject(view)) yield { kind: 'view', value: view, name: `${String(name)}, ${String(view.type)}` };
  const blocks = payload.blocks ?? (isJsonObject(view) ? view.blocks : undefined);
  for (const block of Array.isArray(blocks) ? blocks : [])
    if (isJsonObject(block))
      yield { kind: 'block', value: block, name: `${String(name)}, ${String(block.type)}` };
}

async function judge(sent: readonly Sent[], folder: string): Promise<z.infer<typeof Verdict>[]> {
  const own = join(folder, '.venv/bin/python');
  const python = spawn(existsSync(own) ? own : 'python3', [CHECK, folder], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const output = text(python.stdout);
  for (const [id, { kind, value }] of sent.entries())
    python.stdin.write(`${JSON.stringify({ id, kind, value })}\n`);
  python.stdin.end();
  const verdicts = (await output).split('\n').filter((line) => line !== '');
  if (verdicts.length !== sent.length) throw new Error('python-slack-sdk did not judge every block');
  return verdicts.map((line) => Verdict.parse(JSON.parse(line)));
}

function lengthened(sent: Sent): Sent {
  const longer = (key: string, value: unknown) =>
    key === 'text' && typeof value === 'string' ? value.padEnd(value.length + 4_000, 'x') : value;
  return { ...sent, value: JSON.parse(JSON.stringify(sent.value, longer)) };
}
