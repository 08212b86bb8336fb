import type { ClickTarget } from '../../../protocol.ts';
import type { Block } from '../../../slack/state/types.ts';
import { SurfaceContext, useNewSurface } from './elements/surface.tsx';
import { BlockList } from './layout/block-view.tsx';

/** Blocks of a message or of the Home tab; what is put into them stays while they are drawn, also when the blocks change. */
export function Blocks({
  blocks,
  target,
}: {
  readonly blocks: readonly Block[];
  readonly target: ClickTarget;
}) {
  const { surface, dialog } = useNewSurface({ target, blocks });
  return (
    <SurfaceContext value={surface}>
      <BlockList blocks={blocks} />
      {dialog}
    </SurfaceContext>
  );
}
