import { useEffect, useRef, useState } from 'react';
import type { ActionResult } from '../../../../protocol.ts';
import type { Slot, Value } from './element-state.ts';
import { useSurface } from './surface.tsx';

/**
 * Clicks an element, after its own question: while the answer is out, the element is busy and another click does nothing.
 * Undefined when the person thought better of it.
 */
export function useClick(slot: Slot): {
  isBusy: boolean;
  click: (value?: Value) => Promise<ActionResult | undefined>;
} {
  const surface = useSurface();
  const [isBusy, setBusy] = useState(false);
  const isInFlight = useRef(false);
  const isMounted = useRef(true);
  useEffect(() => {
    isMounted.current = true;
    return () => {
      isMounted.current = false;
    };
  }, []);
  const click = async (value?: Value) => {
    if (isInFlight.current) return undefined;
    isInFlight.current = true;
    try {
      if (!(await surface.confirm(slot))) return undefined;
      setBusy(true);
      return await surface.send(slot, value);
    } finally {
      isInFlight.current = false;
      if (isMounted.current) setBusy(false);
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
    surface.setValue(slot, next);
    if (!dispatches) return;
    const answer = await click(next);
    if (answer === undefined || !answer.ok) surface.setValue(slot, value);
  };
  return { value, isBusy, change };
}
