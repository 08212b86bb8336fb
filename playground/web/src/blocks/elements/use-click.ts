import { useEffect, useRef, useState } from 'react';
import type { Answer } from '../../../../protocol.ts';
import type { Slot, Value } from './element-state.ts';
import { useSurface } from './surface.tsx';

/**
 * Clicks an element, after its own question: while the answer is out, the element is busy and another click does nothing.
 * Undefined when the person thought better of it.
 */
export function useClick(slot: Slot): {
  isBusy: boolean;
  click: (value?: Value) => Promise<Answer | undefined>;
} {
  const surface = useSurface();
  const [isBusy, setBusy] = useState(false);
  const isOut = useRef(false);
  const isDrawn = useRef(true);
  useEffect(() => {
    isDrawn.current = true;
    return () => {
      isDrawn.current = false;
    };
  }, []);
  const click = async (value?: Value) => {
    if (isOut.current) return undefined;
    isOut.current = true;
    try {
      if (!(await surface.ask(slot))) return undefined;
      setBusy(true);
      return await surface.send(slot, value);
    } finally {
      isOut.current = false;
      if (isDrawn.current) setBusy(false);
    }
  };
  return { isBusy, click };
}

/** The value of an element that holds one, and how to change it: a change in a message is a click at once. */
export function useValue(
  slot: Slot,
  dispatches: boolean,
): { value: Value; isBusy: boolean; change: (value: Value) => Promise<void> } {
  const surface = useSurface();
  const { isBusy, click } = useClick(slot);
  const value = surface.valueOf(slot) ?? '';
  const change = async (next: Value) => {
    surface.fill(slot, next);
    if (!dispatches) return;
    const answer = await click(next);
    if (answer === undefined || !answer.ok) surface.fill(slot, value);
  };
  return { value, isBusy, change };
}
