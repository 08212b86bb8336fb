import { Transcript } from '../../agent/transcript.ts';
import type { ClaimedTurn, Settlement } from '../../store/port/store.ts';
import { grantOf } from '../../tools/gate/gate.ts';
import { elicitationOf, isRunAsTask } from '../../tools/mcp/server-pause.ts';
import { findAction, problemAtStart } from '../actions/start-problem.ts';
import type { BotContext } from '../context.ts';
import { CHANGED } from '../requests/replies-to.ts';
import { grantTexts } from '../texts/grants.ts';

/**
 * Returns the ended requests of a turn. An answer to a server's question continues its call only if the call could still be started as it
 * was: with the same tool, rules, policy and people, and under a grant that was not revoked. Any other counts as superseded, and the call is asked anew; a task, which runs
 * already, is told that its question is cancelled.
 */
export async function heldSettlements(
  context: BotContext,
  { messages, settled }: ClaimedTurn,
): Promise<readonly Settlement[]> {
  if (settled.length === 0) return settled;
  const { interrupts } = Transcript.latestRound(messages, { mayBeOpen: true });
  const asking = new Map(
    interrupts.flatMap((interrupt) => {
      const asked = elicitationOf(interrupt);
      return asked === undefined ? [] : [[interrupt.id, { asked, grant: grantOf(interrupt) }] as const];
    }),
  );
  return Promise.all(
    settled.map(async (settlement): Promise<Settlement> => {
      const { requestId, state } = settlement;
      const call = asking.get(requestId.slice(requestId.lastIndexOf('~') + 1));
      if (state !== 'answered' || call === undefined) return settlement;
      const problem = (await problemNow(context, requestId)) ?? (await grantProblem(context, call.grant));
      if (problem === undefined) return settlement;
      return { ...settlement, state: isRunAsTask(call.asked) ? 'withdrawn' : 'superseded', payload: problem };
    }),
  );
}

/** A grant that was revoked carries no call on; one that has expired does, since it held when the call was made. */
async function grantProblem(
  { store }: Pick<BotContext, 'store'>,
  id: string | undefined,
): Promise<string | undefined> {
  const grant = id === undefined ? undefined : await store.loadGrant(id);
  return grant?.revokedBy === undefined ? undefined : `${CHANGED}\n${grantTexts.revokedMeanwhile}`;
}

async function problemNow(context: BotContext, requestId: string): Promise<string | undefined> {
  const loaded = await context.store.load(requestId);
  if (loaded.outcome !== 'found') return 'its request is gone';
  const action = await findAction(context, loaded.request);
  if (action === undefined) return 'there is no such tool any more';
  return problemAtStart({ ...context, directory: context.directory.fresh() }, action);
}
