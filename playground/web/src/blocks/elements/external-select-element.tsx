import { useEffect, useRef, useState } from 'react';
import { act } from '../../client/act.ts';
import { isObject, numberOf, objects, stringOf, textOf } from '../json.ts';
import { plainString } from '../text/read-text-object.ts';
import { ariaOf, type ElementProps } from './element-state.ts';
import { type MenuOption, readOption } from './menu-options.ts';
import { Chips } from './select-elements.tsx';
import { useSurface } from './surface.tsx';
import { useValue } from './use-click.ts';

const TYPING_DELAY_MS = 250;
const DEFAULT_QUERY_LENGTH = 3;

/** A menu with options from the app for the typed text; single or multi select. */
export function ExternalSelectElement(props: ElementProps) {
  const { element, id, dispatches } = props;
  const { value, isBusy, change } = useValue(props, dispatches);
  const [typed, setTyped] = useState('');
  const [known, setKnown] = useState<readonly MenuOption[]>(() => initialOptions(props));
  const { found, isSearching } = useSearchResults(props, typed);
  const isMulti = stringOf(element.type).startsWith('multi_');
  const chosen = Array.isArray(value) ? value.map(String) : [String(value)].filter((each) => each !== '');
  const most = isMulti ? (numberOf(element.max_selected_items) ?? Number.POSITIVE_INFINITY) : 1;
  const placeholder = plainString(element.placeholder) || 'Type to search';
  const choose = (option: MenuOption) => {
    setKnown([...known, option]);
    setTyped('');
    void change(isMulti ? [...chosen, option.value] : option.value);
  };
  const remove = (removed: string) => void change(isMulti ? chosen.filter((each) => each !== removed) : '');
  return (
    <div className="element-multi">
      <Chips
        chosen={chosen.map(
          (each) => known.find((option) => option.value === each) ?? { value: each, label: each },
        )}
        onRemove={remove}
      />
      <input
        id={id}
        type="search"
        className="element-input"
        autoComplete="off"
        value={typed}
        placeholder={placeholder}
        disabled={isBusy || (isMulti && chosen.length >= most)}
        onChange={(event) => setTyped(event.target.value)}
        {...ariaOf(props, textOf(element.placeholder) || 'Type to search')}
      />
      <div className="element-found" aria-live="polite">
        {isSearching ? <span className="element-note">Searching…</span> : null}
        {found?.length === 0 ? <span className="element-note">No results.</span> : null}
        {found === undefined || found.length === 0 ? null : (
          <ul>
            {found
              .filter((option) => !chosen.includes(option.value))
              .map((option) => (
                <li key={option.value}>
                  <button type="button" onClick={() => choose(option)}>
                    {option.label}
                  </button>
                </li>
              ))}
          </ul>
        )}
      </div>
    </div>
  );
}

function useSearchResults({ element }: ElementProps, typed: string) {
  const { target } = useSurface();
  const [answer, setAnswer] = useState<{ typed: string; options: readonly MenuOption[] }>();
  const least = numberOf(element.min_query_length) ?? DEFAULT_QUERY_LENGTH;
  const isEnough = typed.length >= Math.max(least, 1);
  const actionId = stringOf(element.action_id);
  const latestTarget = useRef(target);
  latestTarget.current = target;
  useEffect(() => {
    if (!isEnough) return;
    let isCurrent = true;
    const timer = setTimeout(async () => {
      const result = await act('search', { target: latestTarget.current, actionId, typed });
      const options = result.ok ? objects(result.options).map(readOption) : [];
      if (isCurrent) setAnswer({ typed, options });
    }, TYPING_DELAY_MS);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [isEnough, actionId, typed]);
  const found = isEnough && answer?.typed === typed ? answer.options : undefined;
  return { found, isSearching: isEnough && found === undefined };
}

function initialOptions({ element }: ElementProps): MenuOption[] {
  const one = isObject(element.initial_option) ? [element.initial_option] : [];
  return [...one, ...objects(element.initial_options)].map(readOption);
}
