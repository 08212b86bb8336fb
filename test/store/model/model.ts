import { effectModel } from './effects.ts';
import { exportModel } from './export.ts';
import { joinedModel } from './joined.ts';
import { listModel } from './lists.ts';
import { manifestModel } from './manifest.ts';
import { outboxModel } from './outbox.ts';
import { requestModel } from './requests.ts';
import { threadModel } from './threads.ts';
import { timeModel } from './time.ts';
import { usageModel } from './usage.ts';
import type { Verbs, World } from './world.ts';

/** The specification of the record: every verb as plain code over plain data, with no Redis and no clock. */
export function modelOf(world: World): Verbs {
  const single = {
    ...threadModel(world),
    ...effectModel(world),
    ...requestModel(world),
    ...timeModel(world),
    ...outboxModel(world),
    ...listModel(world),
    ...exportModel(world),
    ...usageModel(world),
    ...manifestModel(world),
  };
  return { ...single, ...joinedModel(world, single) };
}
