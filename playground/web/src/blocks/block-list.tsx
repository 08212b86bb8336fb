import type { Block } from '../../../slack/state/types.ts';
import { BlockView } from './layout/block-view.tsx';

/** Blocks one below the other, within a surface. */
export function BlockList({ blocks }: { readonly blocks: readonly Block[] }) {
  return (
    <div className="blocks prose">
      {blocks.map((block) => (
        <div className="block" key={block.block_id}>
          <BlockView block={block} blockId={block.block_id} />
        </div>
      ))}
    </div>
  );
}
