import type { JsonObject } from '../../agent/json.ts';
import type { RequestRecord } from '../../store/port/request-record.ts';
import type { Store } from '../../store/port/store.ts';
import {
  ALL_TOOLS,
  type FreezeResult,
  THE_MODEL,
  type UnfreezeResult,
  type UnfreezeVote,
} from '../../store/port/workspace.ts';
import { callerId } from '../../tools/callers.ts';
import { parseCallerThread } from '../caller-threads.ts';
import { toolOf } from '../request-details.ts';

/** A person who freezes, or wants to end a freeze, or an operator at a terminal. */
export interface Freezer {
  readonly who: string;
  /** New for each click or command. */
  readonly id: string;
  readonly reason: string;
  readonly evidence: JsonObject;
}

/** An action that runs: of a request, or a call in a turn. */
export type RunningAction = { readonly request: RequestRecord } | { readonly tool: string };

/**
 * Freezes a tool, a caller or everything, and the model as well if that is wanted. Once this resolves nothing of that scope starts in any
 * process; the actions that had started before are listed, and will finish.
 */
export async function freezeActions(
  store: Store,
  scope: string,
  { who, id, reason, evidence }: Freezer,
  { withModel = false }: { readonly withModel?: boolean } = {},
): Promise<FreezeResult & { readonly running: readonly RunningAction[] }> {
  const { outcome } = await store.freeze({ scope, id, who, reason, evidence });
  const model = withModel
    ? await store.freeze({ scope: THE_MODEL, id: modelFreeze(id), who, reason, evidence })
    : undefined;
  return {
    outcome: model?.outcome === 'frozen' ? 'frozen' : outcome,
    running: await runningOf(store, scope),
  };
}

/** Ends a freeze by a vote; a vote for that of all actions counts for that of the model too, if it was shown or none was. */
export async function endFreeze(store: Store, vote: UnfreezeVote): Promise<UnfreezeResult> {
  const result = await store.unfreeze(vote);
  const isRefused = result.outcome === 'not-eligible' || result.outcome === 'not-as-shown';
  if (vote.scope !== ALL_TOOLS || isRefused) return result;
  const shown = vote.shown && modelFreeze(vote.shown);
  const model = await store.unfreeze({ ...vote, scope: THE_MODEL, id: modelFreeze(vote.id), shown });
  return result.outcome === 'not-frozen' ? model : result;
}

/** Names the freeze of the model, or its end, that belongs to one of all actions. */
function modelFreeze(id: string): string {
  return `${id}/model`;
}

/** Lists what runs of a scope. */
async function runningOf(store: Store, scope: string): Promise<RunningAction[]> {
  const { requestIds, effects } = await store.listRunning();
  const loaded = await Promise.all(requestIds.map((id) => store.load(id)));
  const requests = loaded.flatMap((result) => (result.outcome === 'found' ? [result.request] : []));
  const isMeant = (tool: string, threadId: string) =>
    [ALL_TOOLS, tool, callerId(parseCallerThread(threadId)?.caller ?? '')].includes(scope);
  return [
    ...requests
      .filter((request) => request.state === 'started' && isMeant(toolOf(request), request.threadId))
      .map((request) => ({ request })),
    ...effects.filter(({ tool, threadId }) => isMeant(tool, threadId)).map(({ tool }) => ({ tool })),
  ];
}
