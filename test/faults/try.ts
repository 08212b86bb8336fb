import { readFileSync, rmSync } from 'node:fs';
import { keepBusy, letSettle } from './cells/keep-busy.ts';
import { checkAll } from './check/invariants.ts';
import { buildWorker } from './world/build-worker.ts';
import { RECIPES } from './world/errand.ts';
import { gatherEvidence } from './world/gather-evidence.ts';
import { startWorld } from './world/start-world.ts';

const t0 = Date.now();
const built = await buildWorker();
console.log('built', Date.now() - t0);
const world = await startWorld({ built, workers: 2, ...(process.argv[2] && { defect: process.argv[2] }) });
console.log('world up', Date.now() - t0);
await new Promise((r) => setTimeout(r, 4500));
for (const w of [...world.workers]) await w.kill();
while (world.workers.size < 2) await new Promise((r) => setTimeout(r, 50));
console.log('replaced', Date.now() - t0);
const n = Number(process.argv[3] ?? 39);
const errands = await keepBusy(world, {
  recipes: RECIPES.filter((r) => !process.argv[4] || r.kind.includes(process.argv[4])),
  inFlight: 30,
  until: (b) => b >= n,
});
await letSettle(world, 20_000);
console.log(
  'done',
  Date.now() - t0,
  'open',
  world.people.unfinished().map((e) => e.kind),
);
const evidence = await gatherEvidence(world, errands, { leastExecuted: 1 });
console.log(evidence.audit.filter((r) => r.event === 'started').slice(0, 1));
console.log(checkAll(evidence).slice(0, 20));
console.log([...evidence.conversations.values()].slice(-2).map((c) => JSON.stringify(c).slice(-700)));
if (world.people.open > 0) {
  console.log(readFileSync(world.logFile, 'utf8').slice(-1500));
  console.log(
    world.workspace.state.messages
      .map((m) => `${m.ts} ${m.thread_ts} ${m.user} ${m.text.slice(0, 200)}`)
      .join('\n'),
  );
}
await world.stop();
rmSync(built, { recursive: true });
process.exit(0);
