import { z } from 'zod';
import { checkView, type ViewDefinition } from '../../block-kit/check-view.ts';
import { LIMITS } from '../../limits.ts';
import { openModal, publishHome, pushModal, updateView } from '../../state/modals.ts';
import type { View } from '../../state/types.ts';
import { viewOnWire } from '../../state/wire.ts';
import type { WorkspaceState } from '../../state/workspace-state.ts';
import { json, optionalString, requiredString } from '../arguments.ts';
import { defineMethod } from '../method.ts';
import { Refusal, refusalOf } from '../refusal.ts';

const view = json('invalid_arguments');

export const open = defineMethod(
  z.object({ trigger_id: requiredString, view }),
  (given, { state, triggers }) => {
    const definition = requireView(state, given.view, 'modal');
    const opened = openModal(state, triggers.exchange(given.trigger_id), definition);
    return { view: viewOnWire(state, opened) };
  },
);

export const push = defineMethod(
  z.object({ trigger_id: requiredString, view }),
  (given, { state, triggers }) => {
    const definition = requireView(state, given.view, 'modal');
    const viewer = triggers.exchange(given.trigger_id);
    const pushed = pushModal(state, viewer, definition);
    if (pushed === undefined) {
      throw new Refusal(state.openModals(viewer).length === 0 ? 'not_found' : 'push_limit_reached');
    }
    return { view: viewOnWire(state, pushed) };
  },
);

export const update = defineMethod(
  z.object({ view_id: optionalString, external_id: optionalString, hash: optionalString, view }),
  (given, { state }) => {
    const target = [...state.views.values()].find(
      (candidate) =>
        candidate.id === given.view_id ||
        (given.external_id !== undefined && candidate.external_id === given.external_id && candidate.open),
    );
    if (target === undefined || !target.open) throw new Refusal('not_found');
    const definition = requireView(state, given.view, target.type, target);
    requireHash(target, given.hash);
    updateView(state, target, definition);
    return { view: viewOnWire(state, target) };
  },
);

export const publish = defineMethod(
  z.object({ user_id: requiredString, hash: optionalString, view }),
  (given, { state }) => {
    if (!state.app.homeTab) throw new Refusal('not_enabled');
    const user = state.users.get(given.user_id);
    if (user === undefined || user.is_stranger) throw new Refusal('user_not_found');
    const current = state.homeOf(user.id);
    const definition = requireView(state, given.view, 'home', current);
    if (current !== undefined) requireHash(current, given.hash);
    return { view: viewOnWire(state, publishHome(state, user.id, definition)) };
  },
);

function requireView(
  state: WorkspaceState,
  candidate: unknown,
  type: ViewDefinition['type'],
  replaced?: View,
): ViewDefinition {
  const checked = checkView(candidate, type);
  if (!checked.ok) throw refusalOf('invalid_arguments', checked.problems);
  if (JSON.stringify(checked.view).length > LIMITS.viewBytes) throw new Refusal('view_too_large');
  const { external_id } = checked.view;
  const isTaken = [...state.views.values()].some(
    (other) => other !== replaced && other.open && other.external_id === external_id && external_id !== '',
  );
  if (external_id !== undefined && isTaken) throw new Refusal('duplicate_external_id');
  return checked.view;
}

function requireHash(view: View, hash: string | undefined): void {
  if (hash !== undefined && hash !== view.hash) throw new Refusal('hash_conflict');
}
