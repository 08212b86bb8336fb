import type { Problem } from '../block-kit/check-blocks.ts';
import { checkView } from '../block-kit/check-view.ts';
import type { MissReason } from '../delivery/delivery.ts';
import { pushModal, updateView } from '../state/modals.ts';
import { isObject } from '../state/normalize-blocks.ts';
import type { JsonObject, User, View } from '../state/types.ts';
import { viewOnWire } from '../state/wire.ts';
import { collectState, type InputValue, isEmpty } from './element-values.ts';
import { interactionBase, type SlackContext } from './interaction.ts';
import { NotPossible } from './not-possible.ts';

/** Result of a submitted modal for the person. */
export type SubmitOutcome =
  | { kind: 'closed' }
  | { kind: 'cleared' }
  | { kind: 'errors'; errors: Record<string, string> }
  | { kind: 'updated'; view: View }
  | { kind: 'pushed'; view: View }
  | { kind: 'failed'; reason: MissReason | 'invalid_response'; problems: Problem[] };

/** Submits the front modal after the checks of Slack's client, and applies the app's answer. */
export async function submitView(
  context: SlackContext,
  user: User,
  viewId: string,
  filled: Readonly<Record<string, InputValue>>,
): Promise<SubmitOutcome> {
  const view = requireFront(context, user, viewId);
  if (view.submit === undefined) throw new NotPossible(`The modal ${viewId} has no submit button.`);
  const values = collectState(view.blocks, filled);
  requireAnswers(view, values);
  const outcome = await context.deliveries.deliverInteraction('interactive', {
    type: 'view_submission',
    ...interactionBase(context, user),
    trigger_id: context.triggers.issue(user.id),
    view: viewOnWire(context.state, view, values),
    response_urls: [],
  });
  if (outcome.kind === 'failed') return { ...outcome, problems: [] };
  const result = applyResponse(context, view, outcome.payload);
  context.state.changed();
  return result;
}

/** Closes the front modal; the app is notified when the view asks for it. */
export async function closeView(context: SlackContext, user: User, viewId: string): Promise<void> {
  const view = requireFront(context, user, viewId);
  const closed = view.clear_on_close ? context.state.openModals(user.id) : [view];
  for (const each of closed) each.open = false;
  context.state.changed();
  for (const each of closed.filter(({ notify_on_close }) => notify_on_close)) {
    await context.deliveries.deliverInteraction('interactive', {
      type: 'view_closed',
      ...interactionBase(context, user),
      view: viewOnWire(context.state, each),
      is_cleared: view.clear_on_close,
    });
  }
}

function requireFront({ state }: SlackContext, user: User, viewId: string): View {
  const front = state.openModals(user.id).at(-1);
  if (front?.id !== viewId) {
    throw new NotPossible(
      `${user.name} has ${front === undefined ? 'no modal' : `the modal ${front.id}`} in front, not ${viewId}.`,
      { shown: 'This is no longer open.' },
    );
  }
  return front;
}

function requireAnswers(view: View, values: JsonObject): void {
  for (const block of view.blocks.filter((each) => each.type === 'input' && each.optional !== true)) {
    const states = values[block.block_id];
    const isAnswered =
      isObject(states) && Object.values(states).some((state) => isObject(state) && !isEmpty(state));
    if (!isAnswered)
      throw new NotPossible(
        `Slack keeps the modal open: please complete the required field ${block.block_id}.`,
        { shown: 'Please complete this required field.', blockId: block.block_id },
      );
  }
}

function applyResponse({ state }: SlackContext, view: View, response: JsonObject): SubmitOutcome {
  switch (response.response_action) {
    case undefined:
      view.open = false;
      return { kind: 'closed' };
    case 'clear':
      for (const open of state.openModals(view.viewer)) open.open = false;
      return { kind: 'cleared' };
    case 'errors':
      return showErrors(view, response.errors);
    case 'update':
    case 'push': {
      const checked = checkView(response.view, 'modal');
      if (!checked.ok) return invalid(checked.problems);
      if (response.response_action === 'update') {
        updateView(state, view, checked.view);
        return { kind: 'updated', view };
      }
      const pushed = pushModal(state, view.viewer, checked.view);
      return pushed === undefined
        ? invalid([{ pointer: '/view', reason: 'push_limit_reached' }])
        : { kind: 'pushed', view: pushed };
    }
    default:
      return invalid([{ pointer: '/response_action', reason: 'unsupported response_action' }]);
  }
}

function showErrors(view: View, errors: unknown): SubmitOutcome {
  const inputs = view.blocks.filter((block) => block.type === 'input').map((block) => block.block_id);
  const entries = isObject(errors) ? Object.entries(errors) : [];
  const problems = entries
    .filter(([blockId, text]) => !inputs.includes(blockId) || typeof text !== 'string')
    .map(([blockId]) => ({ pointer: `/errors/${blockId}`, reason: 'not an input block of this view' }));
  if (entries.length === 0)
    return invalid([{ pointer: '/errors', reason: 'missing required field: errors' }]);
  if (problems.length > 0) return invalid(problems);
  view.errors = Object.fromEntries(entries.map(([blockId, text]) => [blockId, String(text)]));
  return { kind: 'errors', errors: view.errors };
}

function invalid(problems: Problem[]): SubmitOutcome {
  return { kind: 'failed', reason: 'invalid_response', problems };
}
