import { useEntities } from '../../store.ts';
import { Modal } from './modal.tsx';

/** The open modals of the person; only the one in front can be seen and used, the others keep what was put into them. */
export function ModalStack() {
  const modals = [...useEntities().values()]
    .filter((entity) => entity.kind === 'modal')
    .toSorted((one, other) => one.depth - other.depth);
  const front = modals.at(-1)?.key;
  return modals.map(({ key, view }) => <Modal key={key} view={view} isInFront={key === front} />);
}
