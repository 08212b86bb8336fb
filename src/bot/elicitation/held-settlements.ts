import { Transcript } from '../../agent/transcript.ts';
import type { ClaimedTurn, Settlement } from '../../store/port/store.ts';
import { elicitationOf } from '../../tools/mcp/server-pause.ts';
import { findAction, problemAtStart } from '../actions/start-problem.ts';
import type { BotContext } from '../context.ts';

/**
 * Returns the ended requests of a turn. An answer to a server's question continues its call only if the call could still be started as it
 * was: with the same tool, rules, policy and people. Any other counts as superseded, and the call is asked anew.
 */
export async function heldSettlements(
  context: BotContext,
  { messages, settled }: ClaimedTurn,
): Promise<readonly Settlement[]> {
  if (settled.length === 0) return settled;
  const { interrupts } = Transcript.latestRound(messages, { mayBeOpen: true });
  const asking = new Set(
    interrupts.filter((interrupt) => elicitationOf(interrupt) !== undefined).map(({ id }) => id),
  );
  return Promise.all(
    settled.map(async (settlement): Promise<Settlement> => {
      const { requestId, state } = settlement;
      if (state !== 'answered' || !asking.has(requestId.slice(requestId.lastIndexOf('~') + 1)))
        return settlement;
      const problem = await problemNow(context, requestId);
      return problem === undefined ? settlement : { ...settlement, state: 'superseded', payload: problem };
    }),
  );
}

async function problemNow(context: BotContext, requestId: string): Promise<string | undefined> {
  const loaded = await context.store.load(requestId);
  if (loaded.outcome !== 'found') return 'its request is gone';
  const action = await findAction(context, loaded.request);
  if (action === undefined) return 'there is no such tool any more';
  return problemAtStart({ ...context, directory: context.directory.fresh() }, action);
}
