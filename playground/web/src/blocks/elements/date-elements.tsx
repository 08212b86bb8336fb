import { numberOf, stringOf, textOf } from '../json.ts';
import { ariaOf, type ElementProps } from './element-state.ts';
import { fromLocalInput, toLocalInput } from './local-time.ts';
import { useSurface } from './surface.tsx';
import { useClick } from './use-click.ts';

const KINDS = {
  datepicker: { type: 'date', name: 'Date' },
  timepicker: { type: 'time', name: 'Time' },
  datetimepicker: { type: 'datetime-local', name: 'Date and time' },
} as const;

/** A date, a time of day, or a moment, each in the browser's own picker. */
export function DateElement(props: ElementProps) {
  const { element, id, isRequired, dispatches } = props;
  const surface = useSurface();
  const { isBusy, click } = useClick(props);
  const kind = KINDS[kindOf(element.type)];
  const value = surface.valueOf(props) ?? '';
  const isMoment = kind.type === 'datetime-local';
  const shown = isMoment ? toLocalInput(numberOf(value)) : stringOf(value);
  const change = (text: string) => {
    const next = isMoment ? (fromLocalInput(text) ?? '') : text;
    surface.setValue(props, next);
    // A year that is being typed is already a value: 2, 20 and 202 on the way to 2026.
    const isHalfTyped = kind.type !== 'time' && text.startsWith('0');
    if (dispatches && next !== '' && !isHalfTyped) void click(next);
  };
  const zone = stringOf(element.timezone);
  return (
    <>
      <input
        id={id}
        className="element-input element-date"
        type={kind.type}
        value={shown}
        required={isRequired}
        aria-busy={isBusy || undefined}
        onChange={(event) => change(event.target.value)}
        {...ariaOf(props, textOf(element.placeholder) || kind.name)}
      />
      {zone === '' ? null : <span className="element-note">{zone}</span>}
    </>
  );
}

function kindOf(type: unknown): keyof typeof KINDS {
  return type === 'timepicker' || type === 'datetimepicker' ? type : 'datepicker';
}
