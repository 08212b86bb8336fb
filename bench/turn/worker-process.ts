import { openFloor } from './floor.ts';
import { type Done, Order } from './order.ts';
import { openOurs } from './ours.ts';
import type { Side } from './side.ts';

/*
 * A worker of the bench: it does the batches that it is told over IPC, and says how long each took and how much CPU this
 * process used for it. Pausing and resuming are done by two of these, so that whoever resumes has no memory of the pause.
 */
const sides = new Map<string, Side>();

function sideOf(order: Order): Side {
  const name = [order.side, order.redisUrl, order.tools].join(' ');
  const open = (): Side =>
    order.side === 'ours' ? openOurs(order) : openFloor({ ...order, stream: order.side === 'floor' });
  const side = sides.get(name) ?? open();
  sides.set(name, side);
  return side;
}

async function carryOut(order: Order): Promise<Done> {
  const side = sideOf(order);
  const waiting = [...order.ids].reverse();
  const found: string[] = [];
  const one = async (id: string): Promise<void> => {
    switch (order.what) {
      case 'fill':
        return side.fill(id, order.messages);
      case 'pause':
        return side.pause(id);
      case 'find':
        found.push(await side.handleOf(id));
        return undefined;
      case 'resume':
        return side.resume(id);
      case 'deliver':
        return side.deliver();
    }
  };
  const lane = async (): Promise<void> => {
    for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) await one(id);
  };
  const cpu = process.cpuUsage();
  const began = performance.now();
  await Promise.all(Array.from({ length: order.atOnce }, lane));
  const wallMs = performance.now() - began;
  const { user, system } = process.cpuUsage(cpu);
  return { wallMs, cpuMs: (user + system) / 1000, found };
}

process.on('message', (message) => {
  carryOut(Order.parse(message)).then(
    (done) => process.send?.(done),
    (error: unknown) => {
      process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
      process.exit(1);
    },
  );
});
process.on('disconnect', () => process.exit());
process.send?.('ready');
