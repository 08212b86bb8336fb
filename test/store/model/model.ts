import { documentModel } from './documents.ts';
import { effectModel } from './effects.ts';
import { exportModel } from './export.ts';
import { fileModel } from './files.ts';
import { freezeModel } from './freezes.ts';
import { grantModel } from './grants.ts';
import { joinedModel } from './joined.ts';
import { limitModel } from './limits.ts';
import { listModel } from './lists.ts';
import { outboxModel } from './outbox.ts';
import { requestModel } from './requests.ts';
import { summaryModel } from './summaries.ts';
import { threadModel } from './threads.ts';
import { timeModel } from './time.ts';
import { undoModel } from './undo.ts';
import { usageModel } from './usage.ts';
import type { Verbs, World } from './world.ts';

/** Lets plans go on after every verb. */
function followedUp(world: World, verbs: Verbs): Verbs {
  return new Proxy(verbs, {
    get: (target, name) => {
      const verb: unknown = Reflect.get(target, name);
      if (typeof verb !== 'function') return verb;
      return (...args: unknown[]) => {
        const answer: unknown = Reflect.apply(verb, target, args);
        world.followPlans();
        return answer;
      };
    },
  });
}

/** The specification of the record: every verb as plain code over plain data, with no Redis and no clock. */
export function modelOf(world: World): Verbs {
  const single = {
    ...threadModel(world),
    ...effectModel(world),
    ...requestModel(world),
    ...timeModel(world),
    ...undoModel(world),
    ...outboxModel(world),
    ...listModel(world),
    ...fileModel(world),
    ...exportModel(world),
    ...freezeModel(world),
    ...grantModel(world),
    ...summaryModel(world),
    ...limitModel(world),
    ...usageModel(world),
    ...documentModel(world),
  };
  return followedUp(world, { ...single, ...joinedModel(world, single) });
}
