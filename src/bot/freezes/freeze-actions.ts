import type { JsonObject } from '../../agent/json.ts';
import { ALL_TOOLS, type Freeze, type FreezeResult, type FreezeStore } from '../../store/port/freezes.ts';
import type { Store } from '../../store/port/store.ts';
import { readableName } from '../../tools/presentation/readable-name.ts';
import { titleOf } from '../cards/card-details.ts';
import { toolOf } from '../requests/request-details.ts';
import { limits } from '../slack/limits.ts';

/** A person who freezes, or wants to end a freeze: in Slack, or an operator at a terminal. */
export interface Freezer {
  readonly who: string;
  /** New for each click or command. */
  readonly id: string;
  readonly reason: string;
  readonly evidence: JsonObject;
}

/**
 * Freezes a tool or all of them. Once this resolves nothing of that scope starts in any process; the titles are those of the actions
 * that had started before, and will finish.
 */
export async function freezeActions(
  store: Store,
  scope: string,
  { who, id, reason, evidence }: Freezer,
): Promise<FreezeResult & { readonly running: readonly string[] }> {
  const { outcome } = await store.freeze({ scope, id, who, reason, evidence });
  // Also for a freeze that held before: the process that made it may have died before it had spread it.
  await store.spreadFreezes();
  return { outcome, running: await runningTitles(store, scope) };
}

/** Lists what runs of a scope, by its title. */
async function runningTitles(store: Store, scope: string): Promise<string[]> {
  const { requestIds, effects } = await store.listRunning();
  const loaded = await Promise.all(requestIds.map((id) => store.load(id)));
  const requests = loaded.flatMap((result) => (result.outcome === 'found' ? [result.request] : []));
  const isMeant = (tool: string) => scope === ALL_TOOLS || tool === scope;
  return [
    ...requests
      .filter((request) => request.state === 'started' && isMeant(toolOf(request)))
      .map((request) => titleOf(request, limits.label)),
    ...effects.filter(({ tool }) => isMeant(tool)).map(({ tool }) => readableName(tool)),
  ];
}

/** Returns the freeze that holds for a tool: the one of all tools, or its own. */
export async function findFreeze(
  store: Pick<FreezeStore, 'readFreezes'>,
  tool: string,
): Promise<Freeze | undefined> {
  const { freezes } = await store.readFreezes();
  return freezes.find(({ scope }) => scope === ALL_TOOLS) ?? freezes.find(({ scope }) => scope === tool);
}
