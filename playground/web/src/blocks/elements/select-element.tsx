import { wordsOf } from '../json.ts';
import { plainString } from '../text/read-text-object.ts';
import { ariaOf, type ElementProps } from './element-props.ts';
import { groupsOf, type MenuGroup } from './menu-options.ts';
import { useChoosable } from './use-choosable.ts';
import { useValue } from './use-click.ts';

/** A menu of which one thing is chosen. It can be emptied again only where nothing is asked for. */
export function SelectElement(props: ElementProps) {
  const { element, id, isRequired, dispatches } = props;
  const { value, isBusy, change } = useValue(props, dispatches);
  const groups = groupsOf(element, useChoosable());
  const placeholder = plainString(element.placeholder) || 'Choose an option';
  return (
    <select
      id={id}
      className="element-select"
      value={String(value)}
      disabled={isBusy}
      required={isRequired}
      onChange={(event) => void change(event.target.value)}
      {...ariaOf(props, wordsOf(element.placeholder) || 'Choose an option')}
    >
      <option value="" disabled={isRequired || dispatches}>
        {placeholder}
      </option>
      <Options groups={groups} />
    </select>
  );
}

/** The options of a native menu, with their groups. */
export function Options({ groups }: { readonly groups: readonly MenuGroup[] }) {
  return groups.map(({ label, options }) => {
    const drawn = options.map((option) => (
      <option key={option.value} value={option.value}>
        {option.label}
      </option>
    ));
    if (label === undefined) return drawn;
    return (
      <optgroup key={label} label={label}>
        {drawn}
      </optgroup>
    );
  });
}
