import { elementsOf, objects } from '../state/normalize-blocks.ts';
import type { JsonObject, User } from '../state/types.ts';
import { rememberOffered } from './element-values.ts';
import { type ClickTarget, findTarget, originOf } from './find-target.ts';
import { interactionBase, type SlackContext } from './interaction.ts';
import { NotPossible } from './not-possible.ts';

/** Types into an external menu; returns the app's options, or throws when it does not answer. */
export async function searchOptions(
  context: SlackContext,
  user: User,
  target: ClickTarget,
  actionId: string,
  typed: string,
): Promise<JsonObject[]> {
  const shown = findTarget(context, user, target, false);
  const found = shown.blocks
    .flatMap((block) => elementsOf(block).map((element) => ({ block, element })))
    .find(
      ({ element }) => element.action_id === actionId && String(element.type).includes('external_select'),
    );
  if (found === undefined)
    throw new NotPossible(`There is no menu ${actionId} here whose options come from the app.`);
  const outcome = await context.deliveries.deliverInteraction('interactive', {
    type: 'block_suggestion',
    ...interactionBase(context, user),
    ...originOf(context, user, shown, {}),
    action_id: actionId,
    block_id: found.block.block_id,
    value: typed,
  });
  if (outcome.kind === 'failed')
    throw new NotPossible(`The menu ${actionId} stays empty: ${outcome.reason}.`, {
      shown: `${context.state.app.name} did not answer in time. Try again.`,
    });
  const groups = objects(outcome.payload.option_groups).flatMap((group) => objects(group.options));
  const options = [...objects(outcome.payload.options), ...groups];
  rememberOffered(found.element, options);
  return options;
}
