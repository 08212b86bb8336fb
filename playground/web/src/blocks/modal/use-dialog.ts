import { type KeyboardEvent, type RefObject, useEffect, useRef } from 'react';

const FOCUSABLE =
  'a[href], button:not([disabled]), input:not([disabled]), select:not([disabled]), textarea:not([disabled]), [tabindex="0"]';

/** Opens a modal dialog while it is in front, moves the focus into it, and restores the focus afterwards. */
export function useDialog(isInFront: boolean): RefObject<HTMLDialogElement | null> {
  const dialog = useRef<HTMLDialogElement>(null);
  const lastInside = useRef<Element | null>(null);
  useEffect(() => {
    const element = dialog.current;
    if (element === null || !isInFront) return;
    const before = document.activeElement;
    // The control may be gone when the dialog closes; its message is still there.
    const fallback = before?.closest('[tabindex="-1"]');
    element.showModal();
    const first = lastInside.current?.isConnected === true ? lastInside.current : firstIn(element);
    if (first instanceof HTMLElement) first.focus();
    return () => {
      if (element.contains(document.activeElement)) lastInside.current = document.activeElement;
      element.close();
      const target = before?.isConnected === true ? before : fallback;
      if (target instanceof HTMLElement) target.focus({ preventScroll: true });
    };
  }, [isInFront]);
  return dialog;
}

/** Handles Escape, which closes the dialog, and Tab, which stays inside it. */
export function handleDialogKeys(event: KeyboardEvent<HTMLDialogElement>, leave: () => void): void {
  if (event.key === 'Escape') {
    event.preventDefault();
    event.stopPropagation();
    leave();
  }
  if (event.key !== 'Tab') return;
  event.stopPropagation();
  const inside = [...event.currentTarget.querySelectorAll<HTMLElement>(FOCUSABLE)].filter(
    (each) => each.tabIndex >= 0 && each.closest('dialog') === event.currentTarget && each.checkVisibility(),
  );
  const [first, last] = [inside[0], inside.at(-1)];
  const isAtEdge = document.activeElement === (event.shiftKey ? first : last);
  if (!isAtEdge) return;
  event.preventDefault();
  (event.shiftKey ? last : first)?.focus();
}

/** Focuses the first invalid input. */
export function focusInput(dialog: HTMLDialogElement | null, blockIds: readonly string[]): void {
  const wrong = [...(dialog?.querySelectorAll<HTMLElement>('[data-input-of]') ?? [])].find((each) =>
    blockIds.includes(each.dataset.inputOf ?? ''),
  );
  wrong?.querySelector<HTMLElement>('input, select, textarea')?.focus();
}

function firstIn(dialog: HTMLDialogElement): Element | null {
  return (
    dialog.querySelector('[data-focus-on-load]') ??
    dialog.querySelector('.modal-body :is(input, select, textarea):not([disabled])') ??
    dialog.querySelector('[data-first]') ??
    dialog.querySelector(FOCUSABLE)
  );
}
