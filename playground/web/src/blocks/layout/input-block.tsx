import { useId } from 'react';
import type { JsonObject } from '../../../../slack/state/types.ts';
import { Element, Unknown } from '../elements/element.tsx';
import { useSurface } from '../elements/surface.tsx';
import { isObject, stringOf } from '../json.ts';
import { PlainText } from '../text/prose.tsx';

const GROUPS: readonly unknown[] = ['radio_buttons', 'checkboxes'];

/** An input with its label, hint and error, all linked for screen readers. */
export function InputBlock({ block, blockId }: { readonly block: JsonObject; readonly blockId: string }) {
  const id = useId();
  const { errors } = useSurface();
  const { element } = block;
  if (!isObject(element)) return <Unknown what="element" type="none" />;
  const error = errors[blockId];
  const isOptional = block.optional === true;
  const described = [
    ...(block.hint === undefined ? [] : [`${id}-hint`]),
    ...(error === undefined ? [] : [`${id}-error`]),
  ].join(' ');
  const label = (
    <>
      <PlainText text={block.label} />
      {isOptional ? <span className="block-input-optional"> (optional)</span> : null}
    </>
  );
  return (
    <div className="block-input" data-input-of={blockId}>
      {GROUPS.includes(element.type) ? (
        <span className="block-input-label" id={`${id}-label`}>
          {label}
        </span>
      ) : (
        <label className="block-input-label" id={`${id}-label`} htmlFor={id}>
          {label}
        </label>
      )}
      <Element
        blockId={blockId}
        element={element}
        id={id}
        labelledBy={`${id}-label`}
        dispatches={block.dispatch_action === true}
        isInvalid={error !== undefined}
        isRequired={!isOptional}
        {...(described !== '' && { describedBy: described })}
      />
      {error === undefined ? null : (
        <p className="block-input-error" id={`${id}-error`}>
          {stringOf(error)}
        </p>
      )}
      {block.hint === undefined ? null : (
        <p className="block-input-hint" id={`${id}-hint`}>
          <PlainText text={block.hint} />
        </p>
      )}
    </div>
  );
}
