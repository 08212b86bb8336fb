import { ProofCheck } from '../../../src/audit/proof-check.ts';
import { openRedisStore } from '../../../src/store/redis/redis-store.ts';
import type { Violation } from '../check/invariants.ts';
import { readEffects } from '../worker/effects.ts';
import { PREFIX } from '../worker/prefix.ts';
import { PASSKEY_RECIPES } from '../world/errand.ts';
import { NOTICE_MS, type World } from '../world/start-world.ts';
import type { Cell, Played } from './cell.ts';
import { atEveryPoint } from './failpoints.ts';
import { letSettle } from './keep-busy.ts';

/** The points from the click to the end of the action. */
const ON_THE_WAY =
  /^(?:script (?:read-document|write-document|vote|start|finish|end|recover|claim-turn|end-turn)|effect|slack chat)/;
const IN_FLIGHT = 10;
const SETTLE_WITHIN_MS = 240_000;

/** Kills workers while an approver signs on their page, and holds what ran against the proofs in the log. */
async function killWhileSigning(world: World, kills: number): Promise<Played> {
  const played = await atEveryPoint('kill', kills, PASSKEY_RECIPES, {
    inFlight: IN_FLIGHT,
    where: ON_THE_WAY,
  })(world, kills);
  await letSettle(world, SETTLE_WITHIN_MS);
  const check = new ProofCheck({ isPartial: false });
  const violations: Violation[] = [];
  for await (const row of openRedisStore({ client: world.client, prefix: PREFIX }).exportAudit()) {
    const problem = await check.add(row);
    if (problem !== undefined) violations.push({ invariant: 2, what: problem });
  }
  const ran = readEffects(world.effectsFile).filter(({ tool }) => tool === 'sealed').length;
  if (ran > check.proven)
    violations.push({ invariant: 2, what: `${ran} actions ran on ${check.proven} proven approvals` });
  if (ran === 0 || world.signers.signed === 0)
    violations.push({ invariant: 11, what: `${ran} actions ran on ${world.signers.signed} signatures` });
  return { ...played, violations, remark: `${ran} ran on ${check.proven} proven approvals` };
}

/** A worker dies on the way of an action that needs a passkey. `rounds` is the number of killed workers. */
export const PASSKEY_CELLS: readonly Cell[] = [
  {
    name: 'passkeys: worker killed',
    rounds: { long: 300, short: 4 },
    world: { workers: 3, logLevel: 'info', noticeMs: NOTICE_MS, silentIsDead: true },
    leastExecuted: 0.7,
    play: killWhileSigning,
  },
];
