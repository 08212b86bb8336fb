import type { Model } from '../../agent/model.ts';
import type { ClaimedTurn } from '../../store/port/values.ts';
import type { AgentDeclaration, ModelDeclaration } from '../../tools/manifest/manifest.ts';
import type {
  AskPlanner,
  Directory,
  EngineContext,
  Messages,
  Notice,
  Places,
  TurnFailure,
} from '../ports.ts';
import type { RunningTurns } from '../running-turns.ts';

/** The agent's part of the manifest, with the instructions that hold. */
export interface AgentSettings
  extends Omit<AgentDeclaration, keyof ModelDeclaration | 'instructions' | 'timeZone' | 'builtIns'> {
  readonly instructions: string;
}

export interface ChannelModel {
  readonly model: Model;
  readonly contextBudget: number | undefined;
}

/** The ways in which a turn ends; a lost one is continued by another process. */
export type TurnOutcome = 'ended' | 'suspended' | 'handed-over' | 'lost' | 'discarded' | 'failed';

/** The dependencies of turns. */
export interface TurnContext extends EngineContext {
  readonly directory: Directory;
  readonly places: Places;
  readonly messages: Messages;
  readonly asks: AskPlanner;
  readonly agent: () => AgentSettings;
  /** Returns the model of a channel, and the most tokens of history that it is sent. */
  readonly modelFor: (channel: string) => ChannelModel;
  readonly turns: RunningTurns;
  readonly timing: { readonly leaseMs: number; readonly renewMs: number };
  /** Returns the address at which an external system reports back about a call. */
  readonly callbackUrl: (call: { readonly threadId: string; readonly idempotencyKey: string }) => string;
  /** Puts the failure of a turn into words, for operators. */
  readonly describeFailure: (failure: TurnFailure) => string;
  /** Observes a turn: the trace that it continues, its time and its outcome. */
  readonly observeTurn: (
    turn: Pick<ClaimedTurn, 'threadId'> & { readonly sentAt: number; readonly trace: string | undefined },
    work: () => Promise<TurnOutcome>,
  ) => Promise<void>;
}

/** Tells people something, once. */
export async function tell(
  { store, messages }: Pick<TurnContext, 'store' | 'messages'>,
  about: string,
  notice: Notice,
): Promise<void> {
  for (const row of await messages.rows(about, notice)) await store.enqueueOutbox(about, row);
}

/** Tells people something if that is possible: what it is about goes on all the same. */
export async function tryToTell(
  context: Pick<TurnContext, 'store' | 'messages' | 'logger'>,
  about: string,
  notice: Notice,
): Promise<void> {
  await tell(context, about, notice).catch((err: unknown) =>
    context.logger.error({ err, about, notice: notice.code }, 'notice not recorded'),
  );
}
