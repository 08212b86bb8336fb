import { nameOf, useEntities, useWorkspace } from '../../client/store.ts';
import { numberOf, textOf } from '../json.ts';
import { plainString } from '../text/read-text-object.ts';
import { ariaOf, type ElementProps } from './element-state.ts';
import { groupsOf, type MenuGroup, type MenuOption, type MenuSources } from './menu-options.ts';
import { useValue } from './use-click.ts';

/** A single-select menu. It can be emptied only when it is optional. */
export function SelectElement(props: ElementProps) {
  const { element, id, isRequired, dispatches } = props;
  const { value, isBusy, change } = useValue(props, dispatches);
  const groups = groupsOf(element, useMenuSources());
  const placeholder = plainString(element.placeholder) || 'Choose an option';
  return (
    <select
      id={id}
      className="element-select"
      value={String(value)}
      disabled={isBusy}
      required={isRequired}
      onChange={(event) => void change(event.target.value)}
      {...ariaOf(props, textOf(element.placeholder) || 'Choose an option')}
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

/** Chosen values, each with a remove button. */
export function Chips({
  chosen,
  onRemove,
}: {
  readonly chosen: readonly MenuOption[];
  readonly onRemove: (value: string) => void;
}) {
  if (chosen.length === 0) return null;
  return (
    <ul className="element-chips">
      {chosen.map(({ value, label }) => (
        <li key={value}>
          {label}
          <button type="button" aria-label={`Remove ${label}`} onClick={() => onRemove(value)}>
            <span aria-hidden="true">×</span>
          </button>
        </li>
      ))}
    </ul>
  );
}

/** A multi-select menu, up to the number of values that the app allows. */
export function MultiSelectElement(props: ElementProps) {
  const { element, id, dispatches } = props;
  const { value, isBusy, change } = useValue(props, dispatches);
  const groups = groupsOf(element, useMenuSources());
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
        {...ariaOf(props, textOf(element.placeholder) || 'Choose options')}
      >
        <option value="" disabled>
          {plainString(element.placeholder) || 'Choose options'}
        </option>
        <Options groups={left} />
      </select>
    </div>
  );
}

/** Returns the people and channels that this person can choose. */
function useMenuSources(): MenuSources {
  const entities = useEntities();
  const all = [...entities.values()];
  return {
    people: all.filter((entity) => entity.kind === 'person').filter(({ role }) => role !== 'deactivated'),
    channels: all
      .filter((entity) => entity.kind === 'channel')
      .toSorted((one, other) => one.name.localeCompare(other.name)),
    nameOf: (userId) => nameOf(entities, userId),
    me: useWorkspace().me,
  };
}
