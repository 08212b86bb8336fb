import { Component, type ReactNode } from 'react';
import type { Block, JsonObject } from '../../../../slack/state/types.ts';
import { ActionElement, Unknown } from '../elements/element.tsx';
import { objects, stringOf } from '../json.ts';
import { renderList } from '../render-list.tsx';
import { parseMarkdown } from '../text/parse-markdown.ts';
import { PlainText, Prose, Text } from '../text/prose.tsx';
import { readRichText } from '../text/read-rich-text.ts';
import { AlertBlock, CardBlock, CarouselBlock, ContainerBlock } from './card-blocks.tsx';
import { Image, ImageBlock } from './image.tsx';
import { InputBlock } from './input-block.tsx';
import { SectionBlock } from './section-block.tsx';
import { DataTableBlock, TableBlock } from './table-blocks.tsx';
import { PlanBlock, TaskCard } from './task-blocks.tsx';
import './layout.css';

interface BlockProps {
  readonly block: JsonObject;
  /** Id of the top-level block, under which Slack looks up its elements. */
  readonly blockId: string;
}

/** Renders one block; an unknown type is named, and an error stays within the block. */
function BlockView(props: BlockProps) {
  return (
    <BlockBoundary type={stringOf(props.block.type)}>
      <KnownBlock {...props} />
    </BlockBoundary>
  );
}

function KnownBlock({ block, blockId }: BlockProps) {
  switch (block.type) {
    case 'section':
      return <SectionBlock block={block} blockId={blockId} />;
    case 'rich_text':
      return <Prose passages={readRichText(block)} />;
    case 'markdown':
      return (
        <div className="prose-markdown">
          <Prose passages={parseMarkdown(stringOf(block.text))} />
        </div>
      );
    case 'header':
      return (
        <h3 className="block-header">
          <PlainText text={block.text} />
        </h3>
      );
    case 'divider':
      return <hr className="block-divider" />;
    case 'context':
      return <ContextBlock block={block} />;
    case 'actions':
    case 'context_actions':
      return <ActionsBlock block={block} blockId={blockId} />;
    case 'input':
      return <InputBlock block={block} blockId={blockId} />;
    case 'image':
      return <ImageBlock block={block} />;
    case 'table':
      return <TableBlock block={block} />;
    case 'data_table':
      return <DataTableBlock block={block} />;
    case 'task_card':
      return <TaskCard task={block} />;
    case 'plan':
      return <PlanBlock block={block} />;
    case 'card':
      return <CardBlock block={block} blockId={blockId} />;
    case 'carousel':
      return <CarouselBlock block={block} blockId={blockId} />;
    case 'alert':
      return <AlertBlock block={block} />;
    case 'container':
      return (
        <ContainerBlock block={block}>
          {renderList(objects(block.child_blocks), (child) => (
            <BlockView block={child} blockId={blockId} />
          ))}
        </ContainerBlock>
      );
    default:
      return <Unknown what="block" type={stringOf(block.type)} />;
  }
}

function ContextBlock({ block }: { readonly block: JsonObject }) {
  return (
    <div className="block-context">
      {renderList(objects(block.elements), (element) =>
        element.type === 'image' ? (
          <Image image={element} isSmall />
        ) : (
          <div>
            <Text text={element} />
          </div>
        ),
      )}
    </div>
  );
}

function ActionsBlock({ block, blockId }: BlockProps) {
  return (
    <div className="block-actions">
      {objects(block.elements).map((element) => (
        <ActionElement key={stringOf(element.action_id)} blockId={blockId} element={element} />
      ))}
    </div>
  );
}

interface BoundaryProps {
  readonly type: string;
  readonly children: ReactNode;
}

/** Error boundary of one block. */
class BlockBoundary extends Component<BoundaryProps, { readonly hasFailed: boolean }> {
  override state = { hasFailed: false };

  static getDerivedStateFromError() {
    return { hasFailed: true };
  }

  override render() {
    if (!this.state.hasFailed) return this.props.children;
    return (
      <div className="block-unknown">{`A block of type “${this.props.type}” could not be rendered.`}</div>
    );
  }
}

/** Renders a list of blocks within a surface. */
export function BlockList({ blocks }: { readonly blocks: readonly Block[] }) {
  return (
    <div className="blocks prose">
      {blocks.map((block, index) => (
        <div className="block" key={keyOf(blocks, index)}>
          <BlockView block={block} blockId={block.block_id} />
        </div>
      ))}
    </div>
  );
}

/**
 * Returns the key of a block that survives a change of the message, so that its controls keep their focus: Slack gives
 * a block without an id a new one each time. Inputs keep their id, because what was typed belongs to it.
 */
function keyOf(blocks: readonly Block[], index: number): string {
  const type = blocks[index]?.type ?? '';
  if (type === 'input') return `input ${blocks[index]?.block_id}`;
  return `${type} ${blocks.slice(0, index).filter((block) => block.type === type).length}`;
}
