import { useEffect, useRef, useState } from 'react';
import type { ActionResult } from '../../../../protocol.ts';
import type { JsonObject } from '../../../../slack/state/types.ts';
import { readEntities, subscribeToEntities } from '../../client/store.ts';
import type { Slot, Value } from './element-state.ts';
import { useSurface } from './surface.tsx';

const RESPONSE_TIMEOUT_MS = 2_000;

/**
 * Clicks an element after its confirmation: the element is busy until the answer arrives, and further clicks do nothing.
 * Resolves to undefined when the person cancels. With `awaitsResponse` the element stays busy until the app's response is
 * visible.
 */
export function useClick(
  slot: Slot,
  { awaitsResponse = false } = {},
): { isBusy: boolean; click: (value?: Value) => Promise<ActionResult | undefined> } {
  const surface = useSurface();
  const [isBusy, setBusy] = useState(false);
  const isInFlight = useRef(false);
  const isMounted = useRef(true);
  const element = useRef(slot.element);
  element.current = slot.element;
  useEffect(() => {
    isMounted.current = true;
    return () => {
      isMounted.current = false;
    };
  }, []);
  const release = () => {
    isInFlight.current = false;
    if (isMounted.current) setBusy(false);
  };
  const click = async (value?: Value) => {
    if (isInFlight.current) return undefined;
    isInFlight.current = true;
    let response: Promise<void> | undefined;
    try {
      if (!(await surface.confirm(slot))) return undefined;
      setBusy(true);
      if (awaitsResponse) response = waitForResponse(() => element.current);
      const result = await surface.send(slot, value);
      if (!result.ok) response = undefined;
      return result;
    } finally {
      if (response === undefined) release();
      else void response.then(release);
    }
  };
  return { isBusy, click };
}

/** Resolves when the element changes, or a modal or a private notice appears; at the latest after two seconds. */
function waitForResponse(current: () => JsonObject): Promise<void> {
  const before = current();
  const shown = privateKeys();
  return new Promise((resolve) => {
    const finish = () => {
      window.clearTimeout(timer);
      stop();
      resolve();
    };
    const timer = window.setTimeout(finish, RESPONSE_TIMEOUT_MS);
    // The new elements are rendered after the listeners have run.
    const look = () =>
      window.requestAnimationFrame(() => (current() !== before || privateKeys() !== shown) && finish());
    const stop = subscribeToEntities(look);
  });
}

function privateKeys(): string {
  return [...readEntities().values()]
    .filter((entity) => entity.kind === 'modal' || (entity.kind === 'message' && entity.isEphemeral))
    .map(({ key }) => key)
    .join(' ');
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
