import type { ClickTarget } from '../../../protocol.ts';
import type { Block } from '../../../slack/state/types.ts';
import { SurfaceContext, useNewSurface } from './elements/surface.tsx';
import { BlockList } from './layout/block-view.tsx';

/** Renders the blocks of a message or of the Home tab; entered values survive changes of the blocks. */
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
