import type { InteractionOutcome } from '../delivery/delivery.ts';
import { elementsOf } from '../state/normalize-blocks.ts';
import type { Block, JsonObject, User } from '../state/types.ts';
import { collectState, hasState, type InputValue, optionsOf, stateOf } from './element-values.ts';
import { type ClickTarget, type FoundTarget, findTarget, originOf } from './find-target.ts';
import { interactionBase, type SlackContext } from './interaction.ts';
import { NotPossible } from './not-possible.ts';

export interface ClickOptions {
  /** Selects one of several buttons with the same action, or the option of a menu. */
  value?: InputValue;
  blockId?: string;
  /** Values of the other inputs, by block or action id. */
  values?: Readonly<Record<string, InputValue>>;
  /** Sends the click even if the element does not exist, like a stale screen or a forger. */
  force?: boolean;
}

/** Sends the `block_actions` of a click; throws for a click that is impossible on the current blocks. */
export function click(
  context: SlackContext,
  user: User,
  target: ClickTarget,
  actionId: string,
  options: ClickOptions = {},
): Promise<InteractionOutcome> {
  const shown = findTarget(context, user, target, options.force ?? false);
  const { block, element } = findClicked(shown, actionId, options);
  const action = {
    action_id: actionId,
    block_id: block.block_id,
    ...actionOf(element, options),
    action_ts: context.state.clock.next(),
  };
  const isThere = shown.blocks.some((each) => each.block_id === block.block_id);
  const key = elementsOf(block).filter(hasState).length === 1 ? block.block_id : actionId;
  const own = hasState(element) && options.value !== undefined && isThere ? { [key]: options.value } : {};
  const values = collectState(shown.blocks, { ...own, ...options.values });
  return context.deliveries.deliverInteraction('interactive', {
    type: 'block_actions',
    ...interactionBase(context, user),
    trigger_id: context.triggers.issue(user.id),
    ...originOf(context, user, shown, values),
    actions: [action],
  });
}

function findClicked(shown: FoundTarget, actionId: string, options: ClickOptions) {
  const candidates = matching(shown.blocks, actionId, options);
  const offering = candidates.filter(({ element }) => offers(element, options.value));
  const [only] = offering;
  if (offering.length > 1) {
    throw new NotPossible(
      `${offering.length} elements have the action ${actionId}; say which with value or blockId.`,
    );
  }
  if (only !== undefined) return only;
  if (!(options.force ?? false)) {
    const there = shown.blocks.flatMap((block) => elementsOf(block).map(describeElement));
    const list = there.length === 0 ? 'nothing' : there.join(', ');
    const wanted = candidates.some(({ element }) => element.type === 'overflow')
      ? `the option ${String(options.value)} of ${actionId}`
      : actionId;
    throw new NotPossible(
      `Nobody can click ${wanted} here now: what is shown offers ${list}. Use force for a stale click.`,
      { shown: 'This message has changed. Check it and try again.' },
    );
  }
  const [stale] = shown.older
    .toReversed()
    .flatMap((blocks) => matching(blocks, actionId, options))
    .filter(({ element }) => offers(element, options.value));
  return stale ?? forge(candidates[0], actionId, options);
}

/** Builds what a forger sends: another option of a menu that is shown, or a button that never was. */
function forge(shown: Clicked | undefined, actionId: string, { value, blockId }: ClickOptions): Clicked {
  const text = { type: 'plain_text', text: String(value ?? actionId), emoji: true };
  if (shown?.element.type === 'overflow')
    return { block: shown.block, element: { ...shown.element, options: [{ text, value }] } };
  return {
    block: { type: 'actions', block_id: blockId ?? 'forged' },
    element: { type: 'button', text: { ...text, text: actionId }, value },
  };
}

interface Clicked {
  readonly block: Block;
  readonly element: JsonObject;
}

function matching(blocks: readonly Block[], actionId: string, { blockId }: ClickOptions): Clicked[] {
  return blocks
    .filter((block) => blockId === undefined || block.block_id === blockId)
    .flatMap((block) => elementsOf(block).map((element) => ({ block, element })))
    .filter(({ element }) => element.action_id === actionId);
}

/** True when the element can send this value: a button has one value, an overflow menu those of its options. */
function offers(element: JsonObject, value: InputValue | undefined): boolean {
  if (element.type === 'button') return value === undefined || element.value === value;
  return element.type !== 'overflow' || optionsOf(element).some((option) => option.value === value);
}

function describeElement(element: JsonObject): string {
  const values = element.type === 'overflow' ? optionsOf(element).map((option) => String(option.value)) : [];
  return `${String(element.action_id)}${values.length === 0 ? '' : ` (${values.join(', ')})`}`;
}

function actionOf(element: JsonObject, { value }: ClickOptions): JsonObject {
  const {
    action_id: _actionId,
    options: _options,
    option_groups: _groups,
    ...shown
  } = structuredClone(element);
  switch (element.type) {
    case 'button':
    case 'icon_button':
      return shown;
    case 'feedback_buttons': {
      const chosen = [element.positive_button, element.negative_button].find(
        (each) => typeof each === 'object' && each !== null && 'value' in each && each.value === value,
      );
      if (chosen === undefined) throw new NotPossible(`The feedback buttons have no value ${String(value)}.`);
      return { type: 'feedback_buttons', ...structuredClone(chosen) };
    }
    case 'overflow': {
      const selected = optionsOf(element).find((option) => option.value === value);
      return { ...shown, selected_option: structuredClone(selected) };
    }
    default:
      return { ...shown, ...stateOf(element, value) };
  }
}
