import type { ViewDefinition } from '../block-kit/check-view.ts';
import { makeId } from '../ids.ts';
import { LIMITS } from '../limits.ts';
import { normalizeBlocks } from './normalize-blocks.ts';
import type { View } from './types.ts';
import type { WorkspaceState } from './workspace-state.ts';

/** Opens a checked modal for a person in place of any they had open. */
export function openModal(state: WorkspaceState, viewer: string, definition: ViewDefinition): View {
  for (const open of state.openModals(viewer)) open.open = false;
  return addView(state, viewer, definition, null);
}

/** Pushes a checked modal onto a person's stack; returns nothing when the stack is full or empty. */
export function pushModal(
  state: WorkspaceState,
  viewer: string,
  definition: ViewDefinition,
): View | undefined {
  const stack = state.openModals(viewer);
  const top = stack.at(-1);
  if (top === undefined || stack.length >= LIMITS.viewStack) return undefined;
  return addView(state, viewer, definition, top);
}

/** Replaces what a view shows; its id stays and its hash changes. */
export function updateView(state: WorkspaceState, view: View, definition: ViewDefinition): void {
  delete view.title;
  delete view.submit;
  delete view.close;
  Object.assign(view, contentOfView(definition), { hash: state.newHash(), errors: {} });
  state.changed();
}

/** Shows a person their Home tab, creating it the first time. */
export function publishHome(state: WorkspaceState, viewer: string, definition: ViewDefinition): View {
  const home = state.homeOf(viewer);
  if (home === undefined) return addView(state, viewer, definition, null);
  updateView(state, home, definition);
  return home;
}

function addView(
  state: WorkspaceState,
  viewer: string,
  definition: ViewDefinition,
  previous: View | null,
): View {
  const id = makeId('V');
  const view: View = {
    id,
    team_id: state.team.id,
    viewer,
    ...contentOfView(definition),
    hash: state.newHash(),
    root_view_id: previous?.root_view_id ?? id,
    previous_view_id: previous?.id ?? null,
    open: true,
    errors: {},
  };
  state.views.set(id, view);
  state.changed();
  return view;
}

function contentOfView(definition: ViewDefinition) {
  const modal = definition.type === 'modal' ? definition : undefined;
  return {
    type: definition.type,
    blocks: normalizeBlocks(definition.blocks),
    private_metadata: definition.private_metadata ?? '',
    callback_id: definition.callback_id ?? '',
    external_id: definition.external_id ?? '',
    clear_on_close: modal?.clear_on_close ?? false,
    notify_on_close: modal?.notify_on_close ?? false,
    ...(modal !== undefined && { title: modal.title }),
    ...(modal?.submit !== undefined && { submit: modal.submit }),
    ...(modal?.close !== undefined && { close: modal.close }),
  };
}
