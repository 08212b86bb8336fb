import { numberOf, wordsOf } from '../json.ts';
import { plainString } from '../text/read-text-object.ts';
import { Chips } from './chips.tsx';
import { ariaOf, type ElementProps } from './element-props.ts';
import { groupsOf } from './menu-options.ts';
import { Options } from './select-element.tsx';
import { useChoosable } from './use-choosable.ts';
import { useValue } from './use-click.ts';

/** A menu of which several things are chosen, one after the other, up to the number that the app allows. */
export function MultiSelectElement(props: ElementProps) {
  const { element, id, dispatches } = props;
  const { value, isBusy, change } = useValue(props, dispatches);
  const groups = groupsOf(element, useChoosable());
  const options = groups.flatMap((group) => group.options);
  const chosen = Array.isArray(value) ? value : [];
  const isFull = chosen.length >= (numberOf(element.max_selected_items) ?? Number.POSITIVE_INFINITY);
  const left = groups.map((group) => ({
    ...group,
    options: group.options.filter((option) => !chosen.includes(option.value)),
  }));
  return (
    <div className="element-multi">
      <Chips
        chosen={chosen.map(
          (each) => options.find((option) => option.value === each) ?? { value: each, label: each },
        )}
        onRemove={(removed) => void change(chosen.filter((each) => each !== removed))}
      />
      <select
        id={id}
        className="element-select"
        value=""
        disabled={isBusy || isFull}
        onChange={(event) => void change([...chosen, event.target.value])}
        {...ariaOf(props, wordsOf(element.placeholder) || 'Choose options')}
      >
        <option value="" disabled>
          {plainString(element.placeholder) || 'Choose options'}
        </option>
        <Options groups={left} />
      </select>
    </div>
  );
}
