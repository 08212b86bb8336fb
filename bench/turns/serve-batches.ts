import { Batch, type BatchResult } from './batch.ts';
import type { Side } from './side.ts';

/** Runs the batches that arrive over IPC, ours and the peers' alike, and reports what each took. Ends with the bench. */
export function serveBatches(openSide: (batch: Batch) => Side | Promise<Side>): void {
  const sides = new Map<string, Side>();

  async function sideFor(batch: Batch): Promise<Side> {
    const key = [batch.side, batch.redisUrl, batch.modelUrl].join(' ');
    const side = sides.get(key) ?? (await openSide(batch));
    sides.set(key, side);
    return side;
  }

  async function runBatch(batch: Batch): Promise<BatchResult> {
    const side = await sideFor(batch);
    const waiting = [...batch.ids].reverse();
    const found: string[] = [];
    const operations = {
      fill: (id: string) => side.fill(id, batch.messages),
      pause: (id: string) => side.pause(id),
      find: async (id: string) => void found.push(await side.findRequest(id)),
      resume: (id: string) => side.resume(id),
    };
    const runOne = operations[batch.operation];
    const runSome = async (): Promise<void> => {
      for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) await runOne(id);
    };
    const cpu = process.cpuUsage();
    const startedAt = performance.now();
    await Promise.all(Array.from({ length: batch.atOnce }, runSome));
    const wallMs = performance.now() - startedAt;
    const { user, system } = process.cpuUsage(cpu);
    return { wallMs, cpuMs: (user + system) / 1000, found };
  }

  process.on('message', (message) => {
    runBatch(Batch.parse(message)).then(
      (result) => process.send?.(result),
      (error: unknown) => {
        process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
        process.exit(1);
      },
    );
  });
  process.on('disconnect', () => process.exit());
  process.send?.('ready');
}
