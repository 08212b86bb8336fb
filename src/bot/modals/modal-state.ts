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
/** The state of one input in a submitted modal. */
export type InputState = Readonly<z.infer<typeof InputState>>;

const ModalState = z.record(z.string(), z.record(z.string(), z.unknown()));

/** Lists the inputs of `view.state.values`, by block, each with its action id. */
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

/** Returns the trimmed text of an input; `undefined` if it is empty. */
export function textIn(values: unknown, blockId: string): string | undefined {
  const text = parseModalState(values).get(blockId)?.state.value?.trim();
  return text === '' ? undefined : text;
}
