import { type RefObject, useEffect, useRef } from 'react';

/** Calls back when an open popup is dismissed: by Escape, or by a press or focus outside. */
export function useDismiss(
  element: RefObject<HTMLElement | null>,
  isOpen: boolean,
  onLeave: (how: 'escape' | 'elsewhere') => void,
): void {
  const callback = useRef(onLeave);
  useEffect(() => {
    callback.current = onLeave;
  });
  useEffect(() => {
    if (!isOpen) return;
    const leaveElsewhere = (event: Event): void => {
      const isOutside = event.target instanceof Node && element.current?.contains(event.target) === false;
      if (isOutside) callback.current('elsewhere');
    };
    const leaveByEscape = (event: KeyboardEvent): void => {
      if (event.key !== 'Escape') return;
      event.preventDefault();
      event.stopPropagation();
      callback.current('escape');
    };
    document.addEventListener('pointerdown', leaveElsewhere);
    document.addEventListener('focusin', leaveElsewhere);
    document.addEventListener('keydown', leaveByEscape, true);
    return () => {
      document.removeEventListener('pointerdown', leaveElsewhere);
      document.removeEventListener('focusin', leaveElsewhere);
      document.removeEventListener('keydown', leaveByEscape, true);
    };
  }, [element, isOpen]);
}
