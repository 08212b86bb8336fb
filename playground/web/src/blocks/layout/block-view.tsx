import type { JsonObject } from '../../../../slack/state/types.ts';
import { ActionElement } from '../elements/element.tsx';
import { inOrder } from '../in-order.tsx';
import { objects, stringOf } from '../json.ts';
import { parseMarkdown } from '../text/parse-markdown.ts';
import { Prose } from '../text/prose.tsx';
import { readRichText } from '../text/read-rich-text.ts';
import { PlainText, Text } from '../text/text.tsx';
import { BlockBoundary } from './block-boundary.tsx';
import { AlertBlock, CardBlock, CarouselBlock, ContainerBlock } from './card-blocks.tsx';
import { Image, ImageBlock } from './image.tsx';
import { InputBlock } from './input-block.tsx';
import { SectionBlock } from './section-block.tsx';
import { DataTableBlock, TableBlock } from './table-blocks.tsx';
import { PlanBlock, TaskCard } from './task-blocks.tsx';
import { Unknown } from './unknown.tsx';
import './layout.css';

interface BlockProps {
  readonly block: JsonObject;
  /** The id of the block at the top, under which Slack looks for its elements. */
  readonly blockId: string;
}

/** One block; what cannot be drawn is named, and what fails stays within its own bounds. */
export function BlockView(props: BlockProps) {
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
          {inOrder(objects(block.child_blocks), (child) => (
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
      {inOrder(objects(block.elements), (element) =>
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
