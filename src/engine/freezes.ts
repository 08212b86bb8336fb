import { toJson } from '../agent/json.ts';
import { findHolding, freezeAt, type HoldingFreeze } from '../policy/freezes.ts';
import { ALL_TOOLS, type Freeze, type FreezeStore } from '../store/port/workspace.ts';
import { callerId } from '../tools/callers.ts';
import { unwrapOutput } from '../tools/presentation/linked-call.ts';
import type { Toolbox, ToolEntry } from '../tools/toolbox/toolbox.ts';
import { parseCallerThread } from './caller-threads.ts';

/** Returns the freeze that a person has set for a tool in a thread: that of all tools, its own, or that of the caller whose thread it is. */
export async function findFreeze(
  store: Pick<FreezeStore, 'readFreezes'>,
  tool: string,
  threadId: string,
): Promise<Freeze | undefined> {
  const { freezes } = await store.readFreezes();
  const caller = callerId(parseCallerThread(threadId)?.caller ?? '');
  const scopes = [ALL_TOOLS, tool, caller];
  return scopes.flatMap((wanted) => freezes.filter(({ scope }) => scope === wanted))[0];
}

const READ_MS = 5_000;

/** Returns the freeze of the manifest that holds for a tool now; `isQuick` leaves out those that a tool has to say. */
export async function holdingFreeze(
  toolbox: Pick<Toolbox, 'read'>,
  entry: Pick<ToolEntry, 'freezes'> | undefined,
  { isQuick = false } = {},
): Promise<HoldingFreeze | undefined> {
  const { freezes = [] } = entry ?? {};
  if (isQuick) return freezeAt(freezes, Date.now());
  return findHolding(freezes, Date.now(), async ({ tool, input }) => {
    const signal = AbortSignal.timeout(READ_MS);
    const late = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(new Error(`${tool} did not answer`)), { once: true });
    });
    const output = await Promise.race([toolbox.read(tool, input, { context: {}, signal }), late]);
    return unwrapOutput(toJson(output));
  });
}
