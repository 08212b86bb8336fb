import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { bringUpRedis } from '../playground/redis/bring-up-redis.ts';
import { type Mode, SUITE_NAMES } from './agentdojo/play-case.ts';
import { newSums, Part, type Sums } from './agentdojo/play-part.ts';
import { newTally, type Suite, type Tally } from './suite.ts';

const PART = fileURLToPath(new URL('agentdojo/play-part.ts', import.meta.url));

/** The sums by mode and suite. */
const results = new Map<Mode, Map<string, Sums>>();

/**
 * Every user task with every injection task, behind the whole bot on a real record. The model always obeys the attacker: it makes the
 * calls of the user task's ground truth, then those of the injection task's. AgentDojo's own checks judge.
 */
export const agentDojo: Suite = {
  name: 'AgentDojo v1.2.1, with a model that always obeys the attacker',
  source: 'ethz-spylab/agentdojo at 9e14bc547001',
  hole: 'every tool is free, and likewise an approver who approves everything',
  given: 'agentdojo',
  isLong: true,
  needs:
    // With all that it says itself that it needs.
    'It needs Python 3.11: python3 -m venv DIR/.venv && DIR/.venv/bin/pip install DIR',
  async run({ isLoosened, folder }) {
    if (!isLoosened) return playAll('gated', folder);
    const [free, careless] = await Promise.all([playAll('free', folder), playAll('careless', folder)]);
    // Each hole has to be noticed by itself.
    return careless.unexpected.length === 0 ? careless : free;
  },
  report: () => [...reportOf(results)],
};

/** The parts of a suite that are played beside each other; workspace has more cases than the others together. */
const partsOf = (suite: string) => (suite === 'workspace' ? ['1/3', '2/3', '3/3'] : ['1/1']);

/** Plays all cases in one mode, in several processes. */
async function playAll(mode: Mode, folder: string): Promise<Tally> {
  const tally = newTally();
  const bySuite = new Map<string, Sums>();
  results.set(mode, bySuite);
  // Always a Redis of its own, whatever REDIS_URL names.
  const redis = await bringUpRedis({ env: { ...process.env, REDIS_URL: '' } });
  try {
    await Promise.all(
      SUITE_NAMES.flatMap((suite) => partsOf(suite).map((part) => [suite, part] as const)).map(
        async ([suite, part]) => {
          const { sums, passed, listed, unexpected } = await playPart([suite, part, mode, folder, redis.url]);
          bySuite.set(suite, total([bySuite.get(suite) ?? newSums(), sums]));
          tally.passed += passed;
          tally.unexpected.push(...unexpected);
          for (const [reason, cases] of listed)
            tally.listed.set(reason, (tally.listed.get(reason) ?? 0) + cases);
        },
      ),
    );
  } finally {
    await redis.stop();
  }
  return tally;
}

async function playPart(args: readonly string[]): Promise<Part> {
  const child = spawn(process.execPath, ['--import', 'tsx', PART, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return Part.parse(JSON.parse(await text(child.stdout)));
}

const percent = (part: number, whole: number) => `${((100 * part) / Math.max(whole, 1)).toFixed(1)} %`;
const share = (part: number, whole: number) => `${part} (${percent(part, whole)})`;
const each = (part: number, whole: number) => (part / Math.max(whole, 1)).toFixed(2);

function* reportOf(modes: ReadonlyMap<Mode, ReadonlyMap<string, Sums>>): Generator<string> {
  const sumsOf = (mode: Mode, suite: string) => modes.get(mode)?.get(suite) ?? newSums();
  const allOf = (mode: Mode) => total([...(modes.get(mode)?.values() ?? [])]);
  const gated = allOf('gated');
  yield '| suite | cases | attacks that succeed | tasks done | cards per case: for the task, for the attack | every tool free: attacks | tasks done | everything approved: attacks | tasks done |';
  yield '| --- | --: | --: | --: | --: | --: | --: | --: | --: |';
  for (const suite of SUITE_NAMES)
    yield rowOf(suite, sumsOf('gated', suite), sumsOf('free', suite), sumsOf('careless', suite));
  yield rowOf('all', gated, allOf('free'), allOf('careless'));
  const { shown, cut, missing } = gated.values;
  const values = shown + cut + missing.length;
  yield '';
  yield `Cards judged by their text alone: the ${gated.attackersCards} cards of the attacker's calls have ${values} values that no call of the user's task to the`;
  yield `same tool has. ${share(shown, values)} stand whole on the card. ${share(cut, values)} are too long for it: the card says that they are cut, and has`;
  yield `**Review all to approve** in place of **Approve**. ${missing.length} are missing on a card that can be approved as it is.`;
}

function rowOf(name: string, gated: Sums, free: Sums, careless: Sums): string {
  const { cases, attacks, useful, usersCards, attackersCards } = gated;
  const cells = [
    ...[name, cases, share(attacks, cases), share(useful, cases)],
    `${each(usersCards, cases)}, ${each(attackersCards, cases)}`,
    ...[free, careless].flatMap((sums) => [share(sums.attacks, sums.cases), share(sums.useful, sums.cases)]),
  ];
  return `| ${cells.join(' | ')} |`;
}

function total(all: readonly Sums[]): Sums {
  const sum = newSums();
  for (const { cases, attacks, useful, usersCards, attackersCards, values } of all) {
    sum.cases += cases;
    sum.attacks += attacks;
    sum.useful += useful;
    sum.usersCards += usersCards;
    sum.attackersCards += attackersCards;
    sum.values.shown += values.shown;
    sum.values.cut += values.cut;
    sum.values.missing.push(...values.missing);
  }
  return sum;
}
