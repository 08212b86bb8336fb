import { ALL_TOOLS, type Freeze, type FreezeStore } from '../../store/port/freezes.ts';

/** Returns the freeze that holds for a tool: the one of all tools, or its own. */
export async function findFreeze(
  store: Pick<FreezeStore, 'readFreezes'>,
  tool: string,
): Promise<Freeze | undefined> {
  const { freezes } = await store.readFreezes();
  return freezes.find(({ scope }) => scope === ALL_TOOLS) ?? freezes.find(({ scope }) => scope === tool);
}
