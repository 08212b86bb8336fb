import type { HomeEntity, ModalEntity, PromptsEntity, ShownView } from '../../protocol.ts';
import type { View } from '../../slack/state/types.ts';
import type { Viewpoint } from './viewpoint.ts';

/** Builds what the app shows besides messages: open modals, the Home tab, suggested prompts. */
export function viewEntities({
  state,
  user,
  channels,
}: Viewpoint): (ModalEntity | HomeEntity | PromptsEntity)[] {
  const home = state.homeOf(user.id);
  const prompts = [...channels.values()].flatMap(({ id, kind }) => {
    const suggested = state.suggestedPrompts.get(id) ?? { prompts: state.app.suggestedPrompts };
    return kind === 'im' && suggested.prompts.length > 0 ? [[id, suggested] as const] : [];
  });
  return [
    ...state.openModals(user.id).map(
      (view, depth): ModalEntity => ({
        key: `modal:${view.id}`,
        kind: 'modal',
        depth,
        view: toShownView(view),
      }),
    ),
    ...(home === undefined ? [] : [{ key: 'home', kind: 'home', view: toShownView(home) } as const]),
    ...prompts.map(
      ([channel, suggested]): PromptsEntity => ({
        key: `prompts:${channel}`,
        kind: 'prompts',
        channel,
        ...suggested,
      }),
    ),
  ];
}

/** A view without what the app keeps in it for itself. */
function toShownView({ id, hash, title, submit, close, blocks, errors }: View): ShownView {
  return {
    id,
    hash,
    ...(title !== undefined && { title }),
    ...(submit !== undefined && { submit }),
    ...(close !== undefined && { close }),
    blocks,
    errors,
  };
}
