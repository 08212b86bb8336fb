import { useId } from 'react';
import type { JsonObject } from '../../../../slack/state/types.ts';
import { ActionElement } from '../elements/element.tsx';
import { isObject } from '../json.ts';
import { renderList } from '../render-list.tsx';
import { Text } from '../text/prose.tsx';
import { Image } from './image.tsx';

const SELF_LABELLED: readonly unknown[] = ['button', 'overflow'];

/** Text, fields in two columns, and something beside them. */
export function SectionBlock({ block, blockId }: { readonly block: JsonObject; readonly blockId: string }) {
  const textId = useId();
  const { accessory } = block;
  const fields = Array.isArray(block.fields) ? block.fields : [];
  return (
    <div className="block-section">
      <div className="block-section-body">
        {block.text === undefined ? null : (
          <div id={textId}>
            <Text text={block.text} />
          </div>
        )}
        {fields.length === 0 ? null : (
          <div className="block-fields">
            {renderList(fields, (field) => (
              <div>
                <Text text={field} />
              </div>
            ))}
          </div>
        )}
      </div>
      {isObject(accessory) ? (
        <div className="block-accessory">
          {accessory.type === 'image' ? (
            <Image image={accessory} />
          ) : (
            <ActionElement
              blockId={blockId}
              element={accessory}
              {...(block.text !== undefined &&
                !SELF_LABELLED.includes(accessory.type) && { labelledBy: textId })}
            />
          )}
        </div>
      ) : null}
    </div>
  );
}
