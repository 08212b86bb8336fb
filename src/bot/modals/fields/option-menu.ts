import type { MultiStaticSelect, PlainTextOption, StaticSelect } from '@slack/types';
import { plain } from '../../cards/card.ts';
import { limits } from '../../slack/limits.ts';

/** Builds a menu; options that exceed one list are put into numbered groups. */
export function menuOf(
  options: PlainTextOption[],
  { several, initial = [] }: { readonly several: boolean; readonly initial?: PlainTextOption[] },
): StaticSelect | MultiStaticSelect {
  const source = options.length <= limits.selectOptions ? { options } : { option_groups: groupsOf(options) };
  const [first] = initial;
  if (!several)
    return { type: 'static_select', ...source, ...(first !== undefined && { initial_option: first }) };
  return { type: 'multi_static_select', ...source, ...(first !== undefined && { initial_options: initial }) };
}

function groupsOf(options: readonly PlainTextOption[]) {
  const starts = Array.from(
    { length: Math.ceil(options.length / limits.selectOptions) },
    (_, index) => index * limits.selectOptions,
  );
  return starts.map((start) => {
    const group = options.slice(start, start + limits.selectOptions);
    return { label: plain(`${start + 1} to ${start + group.length}`), options: group };
  });
}
