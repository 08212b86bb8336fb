import { rmSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
import { CHANNELS } from '../../../playground/slack/default-cast.ts';
import type { Violation } from '../check/invariants.ts';
import { changedRules } from '../worker/changed-rules.ts';
import { readEffects } from '../worker/effects.ts';
import { Absence } from '../world/absence.ts';
import { GRANTED_USES, MOST_CAPPED } from '../world/cast.ts';
import { makeErrand, POLICY_RECIPES, RECIPES, UNSIGNED_RECIPES } from '../world/errand.ts';
import { exportedRows } from '../world/gather-evidence.ts';
import { NOTICE_MS, type World } from '../world/start-world.ts';
import type { Cell, Played } from './cell.ts';
import { atEveryPoint } from './failpoints.ts';
import { letSettle } from './keep-busy.ts';
import { type Strike, striking } from './strike.ts';

const ALLOWED = { kind: 'allowed again', tools: ['favored'], intent: 'allow' } as const;
const SETTLE_WITHIN_MS = 240_000;
const Started = z.object({ idempotencyKey: z.string(), granted: z.object({ grant: z.string() }).optional() });

/** Kills workers while actions run under limits, grants and delegations, and counts what ran from outside. */
async function killUnderPolicies(world: World, kills: number): Promise<Played> {
  // Most of the others come after somebody has allowed the same again.
  const absence = new Absence(world);
  await absence.leave();
  const first = makeErrand(ALLOWED, CHANNELS.general);
  world.people.say(first);
  await world.workspace.until(() => world.people.finished.has(first), { what: 'the first grant' });
  const played = await atEveryPoint('kill', kills, POLICY_RECIPES)(world, kills);
  const last = await absence.comeBack();
  await letSettle(world, SETTLE_WITHIN_MS);
  const effects = readEffects(world.effectsFile);
  const rows = await exportedRows(world);
  const violations: Violation[] = [];
  const capped = effects.filter(({ tool }) => tool === 'capped').length;
  if (capped > MOST_CAPPED)
    violations.push({ invariant: 2, what: `${capped} actions ran under a limit of ${MOST_CAPPED}` });
  const grants = rows.filter(({ event }) => event === 'grant-opened');
  const uses = new Map<string, Set<string>>();
  for (const { event, body } of rows) {
    if (event !== 'effect-started') continue;
    const { idempotencyKey, granted } = Started.parse(JSON.parse(body));
    if (granted === undefined || !effects.some(({ key }) => key === idempotencyKey)) continue;
    uses.set(granted.grant, (uses.get(granted.grant) ?? new Set()).add(idempotencyKey));
  }
  for (const [grant, keys] of uses)
    if (keys.size > GRANTED_USES)
      violations.push({
        invariant: 2,
        what: `${keys.size} actions ran under ${grant} of ${GRANTED_USES} uses`,
      });
  const used = [...uses.values()].reduce((sum, keys) => sum + keys.size, 0);
  if (used === 0 || capped === 0)
    violations.push({ invariant: 11, what: `${capped} actions ran under a limit, and ${used} under grants` });
  const delegated = absence.judge(rows);
  violations.push(...delegated.violations);
  const remark = `${capped} of at most ${MOST_CAPPED} under a limit, ${used} under ${grants.length} grants of ${GRANTED_USES} uses, ${delegated.remark}`;
  return { ...played, errands: [first, ...played.errands, last], violations, remark };
}

const WORKERS = 2;

/** All workers die, and those that take their place have other rules. */
const changeRules: Strike = async ({ workers, workspace, effectsFile }, round) => {
  await workspace.until(() => workers.size === WORKERS, { what: 'every worker' });
  const mark = changedRules(effectsFile);
  if (round % 2 === 0) writeFileSync(mark, '');
  else rmSync(mark);
  await Promise.all([...workers].map((worker) => worker.kill()));
};

/** The faults of a process while limits count, and grants and delegations are used. `rounds` is the number of faults. */
export const POLICY_CELLS: readonly Cell[] = [
  {
    name: 'limits, grants and delegations: worker killed',
    rounds: { long: 300, short: 5 },
    world: { workers: 4, logLevel: 'info', noticeMs: NOTICE_MS, silentIsDead: true },
    // What is over the limit does not run.
    leastExecuted: 0,
    play: killUnderPolicies,
  },
  {
    name: 'rules changed while every worker is dead',
    rounds: { long: 40, short: 1 },
    world: { workers: WORKERS, logLevel: 'info', noticeMs: NOTICE_MS, silentIsDead: true },
    // What people approved under the former rules is asked again.
    leastExecuted: 0.7,
    play: striking(changeRules, [...RECIPES, ...UNSIGNED_RECIPES]),
  },
];
