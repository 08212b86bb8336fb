import { useId } from 'react';
import { stringOf } from '../json.ts';
import { ButtonElement, FeedbackButtons, IconButton } from './button-elements.tsx';
import { Checkboxes, RadioButtons } from './choice-elements.tsx';
import { DateElement } from './date-elements.tsx';
import type { ElementProps, Slot } from './element-state.ts';
import { ExternalSelectElement } from './external-select-element.tsx';
import { OverflowMenu } from './overflow-menu.tsx';
import { MultiSelectElement, SelectElement } from './select-elements.tsx';
import { TextElement } from './text-element.tsx';
import './elements.css';

/** An element in a message, where a choice is sent immediately. */
export function ActionElement({ labelledBy, ...slot }: Slot & { readonly labelledBy?: string }) {
  const id = useId();
  const named = labelledBy === undefined ? {} : { labelledBy };
  return <Element {...slot} {...named} id={id} dispatches isInvalid={false} isRequired={false} />;
}

/** Renders any interactive element of Block Kit; an unknown one is named instead. */
export function Element(props: ElementProps) {
  switch (props.element.type) {
    case 'button':
      return <ButtonElement {...props} />;
    case 'icon_button':
      return <IconButton {...props} />;
    case 'feedback_buttons':
      return <FeedbackButtons {...props} />;
    case 'overflow':
      return <OverflowMenu {...props} />;
    case 'static_select':
    case 'users_select':
    case 'channels_select':
    case 'conversations_select':
      return <SelectElement {...props} />;
    case 'multi_static_select':
    case 'multi_users_select':
    case 'multi_channels_select':
    case 'multi_conversations_select':
      return <MultiSelectElement {...props} />;
    case 'external_select':
    case 'multi_external_select':
      return <ExternalSelectElement {...props} />;
    case 'radio_buttons':
      return <RadioButtons {...props} />;
    case 'checkboxes':
      return <Checkboxes {...props} />;
    case 'datepicker':
    case 'timepicker':
    case 'datetimepicker':
      return <DateElement {...props} />;
    case 'plain_text_input':
    case 'email_text_input':
    case 'url_text_input':
    case 'number_input':
    case 'rich_text_input':
      return <TextElement {...props} />;
    default:
      return <Unknown what="element" type={stringOf(props.element.type)} />;
  }
}

/** Placeholder for an unknown block or element. */
export function Unknown({ what, type }: { readonly what: 'block' | 'element'; readonly type: string }) {
  return <div className="block-unknown">{`Unsupported ${what} type: “${type}”.`}</div>;
}
