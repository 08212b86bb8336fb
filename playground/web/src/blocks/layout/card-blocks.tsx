import type { ReactNode } from 'react';
import type { JsonObject } from '../../../../slack/state/types.ts';
import { ActionElement } from '../elements/element.tsx';
import { isObject, objects, stringOf } from '../json.ts';
import { renderList } from '../render-list.tsx';
import { PlainText, Prose, Text } from '../text/prose.tsx';
import { readRichText } from '../text/read-rich-text.ts';
import { Image } from './image.tsx';
import { ScrollFrame } from './scroll-frame.tsx';

interface BlockProps {
  readonly block: JsonObject;
  readonly blockId: string;
}

/** A card: an image, a title, a text and buttons. */
export function CardBlock({ block, blockId }: BlockProps) {
  return (
    <div className="block-card">
      {isObject(block.hero_image) ? <Image image={block.hero_image} /> : null}
      {isObject(block.icon) ? <Image image={block.icon} isSmall /> : null}
      {block.title === undefined ? null : (
        <div className="block-card-title">
          <Text text={block.title} />
        </div>
      )}
      {block.subtitle === undefined ? null : (
        <div className="block-soft">
          <Text text={block.subtitle} />
        </div>
      )}
      {block.body === undefined ? null : <Text text={block.body} />}
      {block.actions === undefined ? null : (
        <div className="block-actions">
          {objects(block.actions).map((element) => (
            <ActionElement key={stringOf(element.action_id)} blockId={blockId} element={element} />
          ))}
        </div>
      )}
    </div>
  );
}

/** Cards side by side, to be scrolled through. */
export function CarouselBlock({ block, blockId }: BlockProps) {
  return (
    <ScrollFrame className="block-carousel" label="Cards">
      {renderList(objects(block.elements), (card) => (
        <CardBlock block={card} blockId={blockId} />
      ))}
    </ScrollFrame>
  );
}

/** Blocks under a title, possibly collapsible. */
export function ContainerBlock({
  block,
  children,
}: {
  readonly block: JsonObject;
  readonly children: ReactNode;
}) {
  const heading = (
    <>
      {isObject(block.icon) ? <Image image={block.icon} isSmall /> : null}
      <span className="block-container-title">
        {isObject(block.rich_text_title) ? (
          <Prose passages={readRichText(block.rich_text_title)} />
        ) : (
          <PlainText text={block.title} />
        )}
      </span>
      {block.subtitle === undefined ? null : (
        <span className="block-soft">
          <Text text={block.subtitle} />
        </span>
      )}
    </>
  );
  if (block.is_collapsible !== true) {
    return (
      <div className="block-container">
        <div className="block-container-head">{heading}</div>
        {children}
      </div>
    );
  }
  return (
    <details className="block-container" open={block.default_collapsed !== true}>
      <summary className="block-container-head">{heading}</summary>
      {children}
    </details>
  );
}

const LEVELS: Readonly<Record<string, string>> = {
  info: 'Note: ',
  warning: 'Warning: ',
  error: 'Error: ',
  success: 'Done: ',
};

/** A notice; its level is a word as well as a colour. */
export function AlertBlock({ block }: { readonly block: JsonObject }) {
  const level = stringOf(block.level);
  return (
    <div className={`block-alert block-alert-${LEVELS[level] === undefined ? 'default' : level}`}>
      {LEVELS[level] === undefined ? null : <span className="block-visually-hidden">{LEVELS[level]}</span>}
      <Text text={block.text} />
    </div>
  );
}
