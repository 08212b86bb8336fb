import type { ChangeEvent, KeyboardEvent } from 'react';
import { isObject, numberOf, stringOf, strings, textOf } from '../json.ts';
import { plainString } from '../text/read-text-object.ts';
import { ariaOf, type ElementProps, richTextOf, textOfRichText, type Value } from './element-state.ts';
import { useSurface } from './surface.tsx';
import { useClick } from './use-click.ts';
import { isInvalidValue } from './validate-inputs.ts';

const TYPES: Readonly<Record<string, { type: string; inputMode: 'email' | 'url' | 'decimal' | 'text' }>> = {
  email_text_input: { type: 'email', inputMode: 'email' },
  url_text_input: { type: 'url', inputMode: 'url' },
  // A native number input hides invalid text, so that no error could be shown.
  number_input: { type: 'text', inputMode: 'decimal' },
};

/** A text input: one or several lines, a number, an address, or rich text. */
export function TextElement(props: ElementProps) {
  const { element, id, isRequired, dispatches } = props;
  const surface = useSurface();
  const { isBusy, click } = useClick(props);
  const kind = TYPES[stringOf(element.type)];
  const isRich = element.type === 'rich_text_input';
  const value = surface.valueOf(props) ?? '';
  const text = isRich ? textOfRichText(value) : stringOf(value);
  const triggers = triggersOf(element.dispatch_action_config);
  const send = (next: Value) => {
    if (dispatches && !isInvalidValue(props, next)) void click(next);
  };
  const change = (event: ChangeEvent<HTMLInputElement | HTMLTextAreaElement>) => {
    const written = kind === undefined ? event.target.value : event.target.value.trim();
    const next = isRich ? richTextOf(written) : written;
    surface.setValue(props, next);
    if (triggers.includes('on_character_entered')) send(next);
  };
  const press = (event: KeyboardEvent) => {
    const isSent = dispatches && triggers.includes('on_enter_pressed');
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing || !isSent) return;
    event.preventDefault();
    send(value);
  };
  const shared = {
    id,
    value: text,
    placeholder: plainString(element.placeholder),
    required: isRequired,
    'aria-busy': isBusy || undefined,
    onChange: change,
    onKeyDown: press,
    ...ariaOf(props, textOf(element.placeholder) || 'Text'),
  };
  if (isRich || element.multiline === true) {
    return (
      <>
        <textarea
          {...shared}
          className="element-input element-textarea"
          rows={numberOf(element.min_lines) ?? 4}
        />
        <RemainingCharacters most={numberOf(element.max_length)} used={text.length} />
      </>
    );
  }
  return (
    <>
      <input
        {...shared}
        className="element-input"
        type={kind?.type ?? 'text'}
        inputMode={kind?.inputMode ?? 'text'}
        autoComplete="off"
      />
      <RemainingCharacters most={numberOf(element.max_length)} used={text.length} />
    </>
  );
}

/** Number of characters left, shown when it gets low. */
function RemainingCharacters({ most, used }: { readonly most: number | undefined; readonly used: number }) {
  if (most === undefined || used < most * 0.8) return null;
  return <span className="element-note" aria-live="polite">{`${most - used} characters left`}</span>;
}

function triggersOf(config: unknown): string[] {
  const triggers = isObject(config) ? strings(config.trigger_actions_on) : [];
  return triggers.length === 0 ? ['on_enter_pressed'] : triggers;
}
