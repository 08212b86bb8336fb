import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { parse } from 'yaml';
import { z } from 'zod';
import { bringUpRedis } from '../../playground/redis/bring-up-redis.ts';
import type { Model } from '../../src/agent/model.ts';
import { receiveMessage } from '../../src/bot/inbox/receive-message.ts';
import { parseThreadId } from '../../src/bot/slack/thread.ts';
import { turnContext } from '../../src/bot/turn-context.ts';
import { detailsOf } from '../../src/engine/request-details.ts';
import { claimAndRunTurn } from '../../src/engine/turns/run-turn.ts';
import type { Store } from '../../src/store/port/store.ts';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import { loadScripts } from '../../src/store/redis/scripts.ts';
import { readManifest, startQuietBot } from '../../test/oracle/start-quiet-bot.ts';
import { fail, newTally, type Suite } from '../suite.ts';

const SERVER = fileURLToPath(new URL('server.ts', import.meta.url));
const APPROVER = 'U0APPROVE1';
const WAIT_MS = 60_000;

const Observation = z.object({
  binding: z.enum(['BOUND', 'STALE', 'UNOBSERVED']),
  age_days: z.number().optional(),
});
const Scenarios = z.array(
  z.object({
    id: z.string(),
    declared_effect: z.string().nullable().optional(),
    consequence: z.string().optional(),
    observation: Observation.optional(),
    policy: z.object({ max_age_days: z.number() }).optional(),
    chain: z
      .object({
        declared_effects: z.array(z.string()),
        consequences: z.array(z.string()),
        observations: z.array(Observation).optional(),
      })
      .optional(),
    expect: z.object({
      oversight: z.enum(['UNATTENDED', 'SUPERVISED', 'APPROVAL_REQUIRED', 'HUMAN_OWNS']),
    }),
  }),
);
type Scenario = z.infer<typeof Scenarios>[number];

/** One call of a scenario. */
interface Step {
  readonly tool: string;
  readonly consequence: string;
  readonly binding: z.infer<typeof Observation>['binding'] | undefined;
}

/**
 * Each level of oversight as the bot carries it out. Whoever is in the thread of a call that runs sees it, and can press Stop. A tool that
 * is not offered waits until an admin has looked at it.
 */
const CARRIED_OUT: Readonly<Record<Scenario['expect']['oversight'], readonly string[]>> = {
  UNATTENDED: ['runs'],
  SUPERVISED: ['runs'],
  APPROVAL_REQUIRED: ['asked: approval'],
  HUMAN_OWNS: ['asked: default', 'not offered'],
};

const CHAIN = 'each call is asked about when it is made; the calls before it have run by then';
const CLOCK = 'a definition that an admin has accepted holds until it changes; it does not age';

/** The 13 scenarios of the core and the 7 of real servers, by what the bot does with a call under the rules of one short manifest. */
export const aisvs: Suite = {
  name: 'AISVS C9 action classes, 20 scenarios',
  source: 'Mayur021/aisvs-c9-action-class-conformance at 6c281e2c7c2e',
  hole: 'a tool without a rule runs',
  given: 'aisvs',
  async run({ isLoosened, folder }) {
    const tally = newTally();
    const redis = await bringUpRedis({ env: { ...process.env, REDIS_URL: '' } });
    const client = new Redis(redis.url);
    const scripts = loadScripts();
    try {
      for (const scenario of readScenarios(folder)) {
        const store = openRedisStore({ client, prefix: `${scenario.id}:`, scripts });
        const first = await play(store, stepOf(scenario), isLoosened);
        if (CARRIED_OUT[scenario.expect.oversight].includes(first)) tally.passed += 1;
        else
          fail(tally, `${scenario.id}: ${first}, expected ${scenario.expect.oversight}`, reasonFor(scenario));
      }
    } finally {
      client.disconnect();
      await redis.stop();
    }
    return tally;
  },
};

function readScenarios(folder: string): Scenario[] {
  return ['scenarios.yaml', 'real.yaml'].flatMap((file) =>
    Scenarios.parse(parse(readFileSync(join(folder, 'scenarios', file), 'utf8'))),
  );
}

/** Returns the first call of a scenario: a chain is to be gated from there. */
function stepOf({ declared_effect: effect, consequence = 'LOW', observation, chain }: Scenario): Step {
  return {
    tool: chain?.declared_effects[0] ?? effect ?? 'undeclared',
    consequence: chain?.consequences[0] ?? consequence,
    binding: (chain?.observations?.[0] ?? observation)?.binding,
  };
}

function reasonFor({ chain, observation, policy }: Scenario): string | undefined {
  if (chain !== undefined) return CHAIN;
  const { age_days: age = 0 } = observation ?? {};
  return policy !== undefined && age > policy.max_age_days ? CLOCK : undefined;
}

/** Makes one call in a thread, and says what became of it. */
async function play(
  store: Store,
  { tool, consequence, binding }: Step,
  isLoosened: boolean,
): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-aisvs-'));
  const control = join(folder, 'changed');
  const change = { STALE: 'mutate', UNOBSERVED: 'appear', BOUND: '' }[binding ?? 'BOUND'];
  const model = new OneCall(tool, consequence);
  const manifest = readManifest(manifestOf([control, change, tool], isLoosened));
  const bot = await startQuietBot({
    store,
    model,
    manifest,
    people: { standing: { [APPROVER]: 'active' }, members: {} },
    around: async (_name, _input, helpers, run) => run(helpers),
  });
  try {
    // An admin has looked at the tools as they are, and accepted them.
    const accepted = bot.toolbox.definitions().map(({ tool: name, digest }) => [name, digest]);
    const servers = { actions: Object.fromEntries(accepted) };
    await bot.toolbox.replace(manifest, { text: JSON.stringify({ version: 1, servers }) });
    if (change !== '') {
      writeFileSync(control, '');
      await until(() => bot.toolbox.unlocked().some((unlocked) => unlocked.tool === tool));
    }
    const ts = '1700000000.000001';
    const thread = parseThreadId(`C0AISVS001:${ts}`);
    const message = { thread, ts, user: 'U0EMMA0001', text: 'Do it.', toBot: true, mention: true, files: [] };
    await receiveMessage(bot, message, undefined);
    await bot.turns.idle(WAIT_MS);
    await claimAndRunTurn(turnContext(bot), `C0AISVS001:${ts}`);
    await bot.turns.idle(WAIT_MS);
    const [id] = await store.waitingIn(`C0AISVS001:${ts}`);
    const loaded = id === undefined ? undefined : await store.load(id);
    if (loaded?.outcome === 'found') return `asked: ${detailsOf(loaded.request).policy?.name ?? ''}`;
    if (model.result?.includes('there is no tool') === true) return 'not offered';
    return model.result?.includes('done') === true ? 'runs' : `refused: ${model.result}`;
  } finally {
    await bot.toolbox.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function until(isTrue: () => boolean): Promise<void> {
  for (const end = Date.now() + WAIT_MS; !isTrue(); await sleep(20))
    if (Date.now() > end) throw new Error('the server did not change');
}

/** Calls one tool, then ends. */
class OneCall implements Model {
  readonly name = 'scripted';
  result: string | undefined;
  readonly #call: { readonly name: string; readonly arguments: string };

  constructor(tool: string, consequence: string) {
    this.#call = { name: tool, arguments: JSON.stringify({ consequence }) };
  }

  async reply({ history }: Parameters<Model['reply']>[0]): ReturnType<Model['reply']> {
    const made = history.flatMap((item) => (item.role === 'model' ? item.calls : []));
    if (made.length === 0)
      return { finish: 'stop', text: '', calls: [{ id: randomUUID(), ...this.#call }], usage: undefined };
    this.result = JSON.stringify(made);
    return { finish: 'stop', text: 'Done.', calls: [], usage: undefined };
  }
}

/** The rules of an admin who knows the classes: what is not named needs the strictest policy, which is the default. */
function manifestOf(args: readonly string[], isLoosened: boolean): string {
  const isSmall = "input.consequence in ['LOW', 'MEDIUM']";
  const approvers = { any: [APPROVER] };
  const notify = { direct_messages: false };
  return JSON.stringify({
    slack: { display_information: { name: 'Test' } },
    agent: { built_ins: [] },
    policies: {
      default: { approvers, notify, risk: 'high', separation: 'thread' },
      approval: { approvers, notify },
    },
    tools: {
      actions: {
        mcp: { command: process.execPath, args: ['--import', 'tsx', SERVER, ...args] },
        approval: [
          { when: "input.consequence == 'CRITICAL'", policy: 'default' },
          { match: 'read_only', when: isSmall, require: 'never' },
          { match: 'recoverable_local', when: isSmall, require: 'never' },
          ...['read_only', 'recoverable_local', 'externally_recoverable'].map((match) => ({
            match,
            policy: 'approval',
          })),
          ...(isLoosened ? [{ require: 'never' }] : []),
        ],
      },
    },
  });
}
