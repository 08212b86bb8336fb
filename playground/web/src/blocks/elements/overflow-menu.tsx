import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import { objects, stringOf } from '../json.ts';
import { plainString } from '../text/read-text-object.ts';
import { resolveLink } from '../text/resolve-link.ts';
import type { Slot } from './element-state.ts';
import { useClick } from './use-click.ts';

const STEPS: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 };

/** The menu behind three dots. Arrows move in it, Escape and a click elsewhere close it. */
export function OverflowMenu({ blockId, element }: Slot) {
  const { isBusy, click } = useClick({ blockId, element });
  const [isOpen, setOpen] = useState(false);
  const frame = useRef<HTMLDivElement>(null);
  const id = useId();
  useEffect(() => {
    if (!isOpen) return;
    frame.current?.querySelector<HTMLElement>('[role="menuitem"]')?.focus();
    const closeOutside = (event: PointerEvent) => {
      if (event.target instanceof Node && frame.current?.contains(event.target) !== true) setOpen(false);
    };
    document.addEventListener('pointerdown', closeOutside);
    return () => document.removeEventListener('pointerdown', closeOutside);
  }, [isOpen]);
  const close = () => {
    setOpen(false);
    frame.current?.querySelector<HTMLElement>('[aria-haspopup]')?.focus();
  };
  const move = (event: KeyboardEvent) => {
    if (event.key === 'Escape') {
      // The modal around it stays open.
      event.stopPropagation();
      event.preventDefault();
      close();
    }
    const step = STEPS[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const items = [...(frame.current?.querySelectorAll<HTMLElement>('[role="menuitem"]') ?? [])];
    const at = items.findIndex((item) => item.matches(':focus'));
    items.at((at + step) % items.length)?.focus();
  };
  const choose = (option: { url?: unknown; value?: unknown }) => {
    close();
    const link = resolveLink(stringOf(option.url), '');
    if (link.kind === 'outside') window.open(link.href, '_blank', 'noopener,noreferrer');
    void click(stringOf(option.value));
  };
  return (
    <div className="element-overflow" ref={frame}>
      <button
        type="button"
        className="element-icon-button"
        aria-label="More actions"
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        aria-disabled={isBusy || undefined}
        onClick={() => setOpen(!isOpen)}
      >
        <span aria-hidden="true">⋯</span>
      </button>
      {isOpen ? (
        <div className="element-overflow-menu" role="menu" id={id} tabIndex={-1} onKeyDown={move}>
          {objects(element.options).map((option) => (
            <button
              key={stringOf(option.value)}
              type="button"
              role="menuitem"
              tabIndex={-1}
              onClick={() => choose(option)}
            >
              {plainString(option.text)}
              {option.description === undefined ? null : <small>{plainString(option.description)}</small>}
            </button>
          ))}
        </div>
      ) : null}
    </div>
  );
}
