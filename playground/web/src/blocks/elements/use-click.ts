import { useEffect, useRef, useState } from 'react';
import type { ActionResult } from '../../../../protocol.ts';
import type { Slot, Value } from './element-state.ts';
import { useSurface } from './surface.tsx';

/**
 * Clicks an element after its confirmation: the element is busy until the answer arrives, and further clicks do nothing.
 * Resolves to undefined when the person cancels.
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

/** Returns an element's value and its setter; in a message a change is sent as a click. */
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
