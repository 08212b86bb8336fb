import { createContext, type ReactNode, useContext, useRef, useState } from 'react';
import type { ActionResult, ClickTarget } from '../../../../protocol.ts';
import type { Block } from '../../../../slack/state/types.ts';
import { act } from '../../client/act.ts';
import { readRoute } from '../../navigation/routes.ts';
import { isObject, stringOf } from '../json.ts';
import { type Confirmation, ConfirmDialog } from '../modal/confirm-dialog.tsx';
import { collectValues, initialOf, keyOf, presetFor, type Slot, type Value } from './element-state.ts';
import { withoutInvalid } from './validate-inputs.ts';

/** State shared by the elements of one message or view: entered values, and how a click is sent. */
export interface Surface {
  readonly target: ClickTarget;
  /** Errors by block id. */
  readonly errors: Readonly<Record<string, string>>;
  valueOf(slot: Slot): Value | undefined;
  setValue(slot: Slot, value: Value): void;
  /** Shows the element's confirmation dialog; true when the person confirms or there is none. */
  confirm(slot: Slot): Promise<boolean>;
  send(slot: Slot, value?: Value): Promise<ActionResult>;
  /** The latest values, also between two renders. */
  values(): ReadonlyMap<string, Value>;
}

export const SurfaceContext = createContext<Surface | undefined>(undefined);

/** Returns the surface of an element; throws outside of one. */
export function useSurface(): Surface {
  const surface = useContext(SurfaceContext);
  if (surface === undefined) throw new Error('An element of Block Kit is drawn outside of <Blocks>.');
  return surface;
}

interface SurfaceOptions {
  readonly target: ClickTarget;
  readonly blocks: readonly Block[];
  readonly errors?: Readonly<Record<string, string>>;
  readonly onChange?: (slot: Slot) => void;
  readonly onRefused?: (error: string) => void;
}

/** Creates a surface and its confirmation dialog. */
export function useNewSurface({ target, blocks, errors = {}, onChange, onRefused }: SurfaceOptions): {
  surface: Surface;
  dialog: ReactNode;
} {
  const [filled, setFilled] = useState(() => presetFor(blocks, openChannel()));
  const [question, setQuestion] = useState<Confirmation>();
  const latest = useRef(filled);
  const surface: Surface = {
    target,
    errors,
    valueOf: (slot) => filled.get(keyOf(slot)) ?? initialOf(slot.element),
    setValue: (slot, value) => {
      latest.current = new Map(latest.current).set(keyOf(slot), value);
      setFilled(latest.current);
      onChange?.(slot);
    },
    confirm: async ({ element: { confirm } }) => {
      if (!isObject(confirm)) return true;
      const isSure = await new Promise<boolean>((answer) => setQuestion({ confirm, answer }));
      setQuestion(undefined);
      return isSure;
    },
    send: async (slot, value) => {
      const answer = await act('click', clickOf(target, blocks, latest.current, slot, value));
      if (!answer.ok) onRefused?.(answer.error);
      return answer;
    },
    values: () => latest.current,
  };
  return { surface, dialog: question === undefined ? null : <ConfirmDialog {...question} /> };
}

function clickOf(
  target: ClickTarget,
  blocks: readonly Block[],
  filled: ReadonlyMap<string, Value>,
  slot: Slot,
  value: Value | undefined,
) {
  const isSimple = typeof value === 'string' || typeof value === 'number' || isList(value);
  // A value that is not a string, number or list, such as rich text, is sent in `values`.
  const values = collectValues(
    blocks,
    withoutInvalid(blocks, filled),
    isSimple || value === undefined ? slot : undefined,
  );
  return {
    target,
    actionId: stringOf(slot.element.action_id),
    blockId: slot.blockId,
    ...(isSimple && { value }),
    ...(Object.keys(values).length > 0 && { values }),
  };
}

function openChannel(): string {
  const { screen } = readRoute();
  return screen.kind === 'channel' ? screen.channel : '';
}

function isList(value: Value | undefined): value is readonly string[] {
  return Array.isArray(value);
}
