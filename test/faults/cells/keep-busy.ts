import { setTimeout as sleep } from 'node:timers/promises';
import { CHANNELS } from '../../../playground/slack/default-cast.ts';
import { PREFIX } from '../worker/prefix.ts';
import { type Errand, makeErrand, RECIPES, type Recipe } from '../world/errand.ts';
import type { World } from '../world/start-world.ts';

export interface BusyOptions {
  readonly inFlight: number;
  readonly until: (begun: number) => boolean;
  readonly recipes?: readonly Recipe[];
}

/** Keeps so many errands going, of every recipe in turn, until it is enough; gives all that were begun. */
export async function keepBusy(
  world: World,
  { inFlight, until, recipes = RECIPES }: BusyOptions,
): Promise<Errand[]> {
  const errands: Errand[] = [];
  while (!until(errands.length)) {
    while (world.people.open < inFlight && !until(errands.length)) {
      const recipe = recipes[errands.length % recipes.length];
      if (recipe === undefined) break;
      const errand = makeErrand(recipe, CHANNELS.general);
      errands.push(errand);
      if (errand.through === undefined) world.people.say(errand);
      else world.callers.ask(errand, errand.through);
    }
    await sleep(25);
  }
  return errands;
}

/** Waits, after the faults have ended, until every errand has come to its end, and every click that was acknowledged is decided, or the time is up. */
export async function letSettle(world: World, withinMs: number): Promise<void> {
  const end = Date.now() + withinMs;
  while (world.people.open > 0 && Date.now() < end) await sleep(50);
  await world.people.settled();
  while ((await hasHeldClicks(world)) && Date.now() < end) await sleep(50);
}

/** Whether a click was acknowledged and waits in the outbox to be decided. */
async function hasHeldClicks({ client }: World): Promise<boolean> {
  const waiting = await client.zrange(`{${PREFIX}}:outbox`, '0', '-1');
  return waiting.some((item) => item.includes('/click/'));
}
