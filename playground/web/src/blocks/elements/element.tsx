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

/** An element as it stands in a message, where a choice is sent at once. */
export function ActionElement({ labelledBy, ...slot }: Slot & { readonly labelledBy?: string }) {
  const id = useId();
  const named = labelledBy === undefined ? {} : { labelledBy };
  return <Element {...slot} {...named} id={id} dispatches isInvalid={false} isRequired={false} />;
}

/** Any interactive element of Block Kit; one that is not known is named instead. */
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

/** Says of what cannot be drawn that it is there. */
export function Unknown({ what, type }: { readonly what: 'block' | 'element'; readonly type: string }) {
  return <div className="block-unknown">{`This page does not draw ${what}s of type “${type}”.`}</div>;
}
