import type { JsonObject } from '../../../../slack/state/types.ts';
import { objects, stringOf } from '../json.ts';
import { Text } from '../text/prose.tsx';
import { ariaOf, type ElementProps } from './element-state.ts';
import { useValue } from './use-click.ts';

/** Radio buttons, of which one is chosen. */
export function RadioButtons(props: ElementProps) {
  const { value, isBusy, change } = useValue(props, props.dispatches);
  return (
    <Choices
      {...props}
      type="radio"
      isBusy={isBusy}
      isChosen={(option) => option === value}
      onChoose={(option) => void change(option)}
    />
  );
}

/** Checkboxes, of which any number is chosen. */
export function Checkboxes(props: ElementProps) {
  const { value, isBusy, change } = useValue(props, props.dispatches);
  const chosen = Array.isArray(value) ? value : [];
  const toggle = (option: string) =>
    chosen.includes(option) ? chosen.filter((each) => each !== option) : [...chosen, option];
  return (
    <Choices
      {...props}
      type="checkbox"
      isBusy={isBusy}
      isChosen={(option) => chosen.includes(option)}
      onChoose={(option) => void change(toggle(option))}
    />
  );
}

interface ChoicesProps extends ElementProps {
  readonly type: 'radio' | 'checkbox';
  readonly isBusy: boolean;
  readonly isChosen: (value: string) => boolean;
  readonly onChoose: (value: string) => void;
}

function Choices({ type, isBusy, isChosen, onChoose, ...props }: ChoicesProps) {
  const { element, id } = props;
  const { 'data-focus-on-load': focus, 'aria-invalid': _invalid, ...aria } = ariaOf(props, 'Choices');
  const isRadio = type === 'radio';
  return (
    <div className="element-choices" role={isRadio ? 'radiogroup' : 'group'} id={id} {...aria}>
      {objects(element.options).map((option: JsonObject, index) => {
        const value = stringOf(option.value);
        const optionId = `${id}-${index}`;
        return (
          <div className="element-choice" key={value}>
            <input
              type={type}
              id={optionId}
              name={id}
              checked={isChosen(value)}
              disabled={isBusy}
              onChange={() => onChoose(value)}
              data-focus-on-load={index === 0 ? focus : undefined}
              aria-describedby={option.description === undefined ? undefined : `${optionId}-more`}
            />
            <label htmlFor={optionId}>
              <Text text={option.text} />
            </label>
            {option.description === undefined ? null : (
              <div className="element-choice-more" id={`${optionId}-more`}>
                <Text text={option.description} />
              </div>
            )}
          </div>
        );
      })}
    </div>
  );
}
