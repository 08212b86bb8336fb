import type { InputBlock } from '@slack/types';
import type { Modal } from '../../../../src/bot/views/modals/modal.ts';

/** Builds Slack's `view.state.values` for a modal that is submitted as opened, with some inputs changed. */
export function stateOf(view: Modal, changes: Readonly<Record<string, object>> = {}): unknown {
  const inputs = view.blocks.filter((block) => block.type === 'input');
  return Object.fromEntries(
    inputs.map((input) => [
      input.block_id,
      { [input.element.action_id ?? '']: { ...untouched(input), ...changes[input.block_id ?? ''] } },
    ]),
  );
}

function untouched({ element }: InputBlock): object {
  const { type } = element;
  switch (type) {
    case 'static_select':
    case 'radio_buttons':
      return { type, selected_option: element.initial_option ?? null };
    case 'multi_static_select':
      return { type, selected_options: element.initial_options ?? [] };
    case 'datepicker':
      return { type, selected_date: element.initial_date ?? null };
    case 'datetimepicker':
      return { type, selected_date_time: element.initial_date_time ?? null };
    case 'plain_text_input':
    case 'number_input':
    case 'email_text_input':
    case 'url_text_input':
      return { type, value: element.initial_value ?? null };
    default:
      return { type };
  }
}
