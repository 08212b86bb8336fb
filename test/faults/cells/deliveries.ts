import type { Delivery } from '../../../playground/slack/delivery/delivery.ts';
import type { World } from '../world/start-world.ts';
import type { Cell, Played } from './cell.ts';
import { keepBusy } from './keep-busy.ts';

const COPIES = 8;
const LATEST_MS = 4_000;
const IN_FLIGHT = 40;

/** Sends everything that Slack has sent again, several times, late and in another order, while the work goes on. */
async function sendAgain(world: World, rounds: number): Promise<Played> {
  let seen = 0;
  let sent = 0;
  const under: Promise<unknown>[] = [];
  const copy = (delivery: Delivery): void => {
    for (let copies = 0; copies < COPIES; copies += 1) {
      sent += 1;
      const sending = new Promise((resolve) => setTimeout(resolve, Math.random() * LATEST_MS));
      under.push(sending.then(() => world.workspace.redeliver(delivery)).catch(() => {}));
    }
  };
  const errands = await keepBusy(world, {
    inFlight: IN_FLIGHT,
    until: () => {
      for (const delivery of world.workspace.deliveries.slice(seen)) if (sent < rounds) copy(delivery);
      seen = world.workspace.deliveries.length;
      return sent >= rounds;
    },
  });
  await Promise.all(under);
  return { errands, rounds: sent };
}

export const DELIVERY_CELLS: readonly Cell[] = [
  {
    name: 'deliveries repeated, late, in another order',
    rounds: { long: 10_000, short: 400 },
    world: { workers: 2 },
    leastExecuted: 1,
    play: sendAgain,
  },
];
