import { type KeyboardEvent, type RefObject, useEffect, useId, useRef, useState } from 'react';
import type { JsonObject } from '../../../../slack/state/types.ts';
import { useDismiss } from '../../use-dismiss.ts';
import { isObject, objects, stringOf } from '../json.ts';
import { useOpenLink } from '../text/page-link.tsx';
import { PlainText } from '../text/prose.tsx';
import type { Slot } from './element-state.ts';
import { useClick } from './use-click.ts';
import { useMenuPlacement } from './use-menu-placement.ts';

/** The menu behind three dots. Arrow keys, Home and End move in it; Escape, Tab and a press elsewhere close it. */
export function OverflowMenu({ blockId, element }: Slot) {
  const { isBusy, click } = useClick({ blockId, element }, { awaitsResponse: true });
  const openLink = useOpenLink();
  const [opened, setOpened] = useState<'first' | 'last'>();
  const frame = useRef<HTMLDivElement>(null);
  const trigger = useRef<HTMLButtonElement>(null);
  const id = useId();
  const close = () => {
    setOpened(undefined);
    trigger.current?.focus();
  };
  useDismiss(frame, opened !== undefined, (how) => (how === 'escape' ? close() : setOpened(undefined)));
  const open = (end: 'first' | 'last') => {
    if (!isBusy) setOpened(end);
  };
  const choose = async (option: JsonObject) => {
    close();
    const isAskedFirst = isObject(element.confirm);
    if (!isAskedFirst) openLink(stringOf(option.url));
    const answer = await click(stringOf(option.value));
    if (isAskedFirst && answer !== undefined) openLink(stringOf(option.url));
  };
  return (
    <div className="element-overflow" ref={frame}>
      <button
        ref={trigger}
        type="button"
        className="element-icon-button"
        aria-label="More actions"
        aria-haspopup="menu"
        aria-expanded={opened !== undefined}
        aria-controls={opened === undefined ? undefined : id}
        aria-disabled={isBusy || undefined}
        aria-busy={isBusy || undefined}
        onClick={() => (opened === undefined ? open('first') : close())}
        onKeyDown={(event) => {
          if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
          event.preventDefault();
          open(event.key === 'ArrowDown' ? 'first' : 'last');
        }}
      >
        <span aria-hidden="true">⋯</span>
      </button>
      {opened === undefined ? null : (
        <Menu
          id={id}
          options={objects(element.options)}
          focusOn={opened}
          trigger={trigger}
          onChoose={(option) => void choose(option)}
        />
      )}
    </div>
  );
}

interface MenuProps {
  readonly id: string;
  readonly options: readonly JsonObject[];
  readonly focusOn: 'first' | 'last';
  readonly trigger: RefObject<HTMLElement | null>;
  readonly onChoose: (option: JsonObject) => void;
}

/** The open menu, in front of everything so that no scroll area cuts it off. */
function Menu({ id, options, focusOn, trigger, onChoose }: MenuProps) {
  const menu = useRef<HTMLDivElement>(null);
  useMenuPlacement(menu, trigger);
  useEffect(
    () =>
      itemsIn(menu.current)
        .at(focusOn === 'first' ? 0 : -1)
        ?.focus(),
    [focusOn],
  );
  return (
    <div
      ref={menu}
      className="element-overflow-menu"
      popover="manual"
      role="menu"
      aria-label="More actions"
      id={id}
      tabIndex={-1}
      onKeyDown={moveByKey}
    >
      {options.map((option) => (
        <button
          key={stringOf(option.value)}
          type="button"
          role="menuitem"
          tabIndex={-1}
          onClick={() => onChoose(option)}
        >
          <PlainText text={option.text} />
          {option.description === undefined ? null : (
            <small>
              <PlainText text={option.description} />
            </small>
          )}
        </button>
      ))}
    </div>
  );
}

function moveByKey(event: KeyboardEvent<HTMLElement>): void {
  const items = itemsIn(event.currentTarget);
  const at = items.findIndex((item) => item.matches(':focus'));
  const next = { ArrowDown: (at + 1) % items.length, ArrowUp: at - 1, Home: 0, End: -1 }[event.key];
  if (next === undefined) return;
  event.preventDefault();
  items.at(next)?.focus();
}

function itemsIn(menu: HTMLElement | null): HTMLElement[] {
  return [...(menu?.querySelectorAll<HTMLElement>('[role="menuitem"]') ?? [])];
}
