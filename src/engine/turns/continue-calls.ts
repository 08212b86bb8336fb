import type { Resume } from '../../agent/replies.ts';
import { type RunOptions, settle } from '../../agent/settle.ts';
import type { ClaimedTurn, TurnEnd } from '../../store/port/values.ts';
import { repliesTo } from '../asks/replies-to.ts';
import { admitAnswers, finishPaused, followTasks } from '../paused.ts';
import type { PlannedAsks, RefusedCall } from '../ports.ts';
import type { TurnJournal } from '../turn-journal.ts';
import type { RunningTurn } from '../turn-lease.ts';
import { deniedCalls, noteDenials } from './denials.ts';
import type { TurnContext } from './turn-context.ts';

/** The work of a turn that continues calls. */
interface Continued extends Pick<RunningTurn, 'lease'> {
  readonly journal: TurnJournal;
  /** Builds the options of tool calls; the calls were made for the people who had written before them. */
  readonly settings: () => RunOptions;
}

/** The calls of a thread after people decided, and the end of the turn if some of them wait again. */
interface ContinuedCalls {
  readonly again: PlannedAsks;
  readonly asked?: { readonly end: TurnEnd; readonly denied: readonly RefusedCall[] };
}

/** Settles the calls that people decided about, or that an earlier process left open. A call that paused again is asked before anything else is read. */
export async function continueCalls(
  context: TurnContext,
  turn: ClaimedTurn,
  { lease, journal, settings }: Continued,
): Promise<ContinuedCalls> {
  // All tools, also those that this person may not use: one of them may be waiting.
  const tools = context.toolbox.tools();
  const ended = await admitAnswers(context, turn);
  const resume = repliesTo(context, ended, turn.messages, tools);
  const isSettled = isEmpty(resume) && turn.effects.length === 0;
  const settled = isSettled ? turn : await settle({ ...settings(), tools, messages: turn.messages, resume });
  const followed = await followTasks(settled.messages, { ...settings(), tools });
  if (!lease.isCut) await finishPaused(context, turn, ended, followed);
  const again = await context.asks.open(turn.threadId, followed, { anew: true });
  if (again.requests.length === 0) return { again };
  const denied = deniedCalls(turn, again.messages);
  await noteDenials(context, turn.threadId, denied, again.messages);
  const end = { ...journal.rest(again.messages, 0), requests: again.requests };
  return { again, asked: { end, denied } };
}

function isEmpty({ respond = [], restart = [], close = [] }: Resume): boolean {
  return respond.length + restart.length + close.length === 0;
}
