import type { WebClient } from '@slack/web-api';
import type { Logger } from 'pino';
import type { Model } from '../agent/model.ts';
import type { PendingLimiter } from '../engine/pending-limiter.ts';
import type { RunningTurns } from '../engine/running-turns.ts';
import type { AgentSettings, ChannelModel } from '../engine/turns/turn-context.ts';
import type { Metrics } from '../observe/metrics.ts';
import type { Store } from '../store/port/store.ts';
import type { Toolbox } from '../tools/toolbox/toolbox.ts';
import type { Accounts } from './connections/connect-flow.ts';
import type { CallbackUrls } from './slack/callback-urls.ts';
import type { Directory } from './slack/directory.ts';
import type { FileHost } from './slack/file-host.ts';
import type { MessageLinks } from './slack/thread.ts';
import type { ThreadReader } from './slack/thread-reader.ts';
import type { UpdateBudget } from './slack/update-budget.ts';
import type { ThreadStatus } from './thread-status.ts';

/** Leases and heartbeats, in milliseconds. */
export interface Timing {
  /** An attempt without a heartbeat for this long is given up. */
  readonly heartbeatTimeoutMs: number;
  readonly heartbeatMs: number;
  /** The shortest time between two changes of a card that only show progress. */
  readonly progressMs: number;
  /** An action that still runs so long after its process was told to stop is told as well. */
  readonly stopActionsMs: number;
  /** The lease of a turn; it must be several times `renewMs`. */
  readonly leaseMs: number;
  readonly renewMs: number;
  /** The claim of a sender on outbox items; after a crash they are sent this much later. */
  readonly claimMs: number;
  /** A card is drawn again so long after an attempt without an answer: Slack may still apply that attempt, over a later one. */
  readonly redrawMs: number;
  /** The time to decide something; a click or a form that takes longer is acknowledged as soon as it is on record. */
  readonly ackWithinMs: { readonly click: number; readonly submission: number };
}

/** Slack's guide: at most one update of a message in about three seconds. */
const PROGRESS_MS = 3_000;
/** Most of the 20 seconds that running work has at a stop. */
const STOP_ACTIONS_MS = 15_000;
const REDRAW_MS = 60_000;
/** A click is decided at once if Slack need not be asked. A form waits a little, so that a refusal is shown below its field. */
const ACK_WITHIN_MS = { click: 15, submission: 500 };

/** Derives the timing from the time after which a crashed process is noticed; a live one sends 15 signs in that time. */
export function timingFor(crashNoticeSeconds: number): Timing {
  const noticeMs = crashNoticeSeconds * 1_000;
  const signMs = Math.round(noticeMs / 15);
  return {
    heartbeatTimeoutMs: noticeMs,
    heartbeatMs: signMs,
    progressMs: PROGRESS_MS,
    stopActionsMs: STOP_ACTIONS_MS,
    leaseMs: noticeMs,
    renewMs: signMs,
    claimMs: noticeMs,
    redrawMs: REDRAW_MS,
    ackWithinMs: ACK_WITHIN_MS,
  };
}

/** The dependencies of all handlers. */
export interface BotContext {
  readonly model: Model;
  /** Returns the model of a channel, and the most tokens of history that it is sent. */
  readonly modelFor: (channel: string) => ChannelModel;
  readonly agent: () => AgentSettings;
  readonly toolbox: Toolbox;
  readonly store: Store;
  readonly client: WebClient;
  readonly directory: Directory;
  readonly links: MessageLinks;
  /** Returns the address of a request on the page; `undefined` if there is no page. */
  readonly pageLink: (requestId: string) => string | undefined;
  /** Returns the address where a person signs with a passkey, or keeps theirs; `undefined` if there is no page. */
  readonly passkeyLink: (nonce?: string) => string | undefined;
  readonly threads: ThreadReader;
  readonly fileHost: FileHost;
  readonly limiter: PendingLimiter;
  readonly callbacks: CallbackUrls;
  readonly accounts: Accounts;
  readonly turns: RunningTurns;
  readonly status: ThreadStatus;
  readonly updates: UpdateBudget;
  readonly timing: Timing;
  readonly metrics: Metrics;
  readonly logger: Logger;
}
