import { z } from 'zod';

const Chosen = z.object({ value: z.string() });
const InputState = z.object({
  type: z.string(),
  value: z.string().nullish(),
  selected_option: Chosen.nullish(),
  selected_options: z.array(Chosen).nullish(),
  selected_date: z.string().nullish(),
  selected_date_time: z.number().nullish(),
});
/** What one input holds when its modal is submitted. */
export type InputState = Readonly<z.infer<typeof InputState>>;

const ModalState = z.record(z.string(), z.record(z.string(), z.unknown()));

/** The inputs of a submitted modal, as `view.state.values` has them: by block, each with its action's id. */
export function parseModalState(
  values: unknown,
): ReadonlyMap<string, { readonly actionId: string; readonly state: InputState }> {
  const blocks = ModalState.safeParse(values);
  const inputs = Object.entries(blocks.success ? blocks.data : {}).flatMap(([blockId, actions]) =>
    Object.entries(actions).flatMap(([actionId, input]) => {
      const state = InputState.safeParse(input);
      return state.success ? [[blockId, { actionId, state: state.data }] as const] : [];
    }),
  );
  return new Map(inputs);
}

/** The text of an input, without what stands around it; an empty one gives `undefined`. */
export function textIn(values: unknown, blockId: string): string | undefined {
  const text = parseModalState(values).get(blockId)?.state.value?.trim();
  return text === '' ? undefined : text;
}
