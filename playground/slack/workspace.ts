import type { Surroundings } from './people/interaction.ts';
import { Person } from './people/person.ts';
import type { DisconnectReason } from './socket-mode/connections.ts';
import type { Delivery } from './socket-mode/delivery.ts';
import type { EphemeralMessage, Message, View } from './state/types.ts';
import type { WorkspaceState } from './state/workspace-state.ts';
import type { RateLimit, RecordedCall } from './web-api/handle-call.ts';

/** The workspace as tests and the playground drive it and look at it. */
export class Workspace {
  readonly state: WorkspaceState;
  /** Every call of the Web API, in the order Slack answered them. */
  readonly calls: RecordedCall[];
  readonly #around: Surroundings;
  readonly #rateLimits: RateLimit[];

  constructor(around: Surroundings, calls: RecordedCall[], rateLimits: RateLimit[]) {
    this.state = around.state;
    this.calls = calls;
    this.#around = around;
    this.#rateLimits = rateLimits;
  }

  /** Everything sent to the app, with each attempt and its answer. */
  get deliveries(): readonly Delivery[] {
    return this.#around.socketMode.deliveries;
  }

  get socketConnections(): number {
    return this.#around.socketMode.connections.count;
  }

  as(userId: string): Person {
    if (!this.state.users.has(userId)) throw new Error(`There is no user ${userId} in this workspace.`);
    return new Person(this.#around, userId);
  }

  /** The id of a person's direct messages with the bot. */
  directMessages(userId: string): string {
    return this.state.openDirectMessage(userId).id;
  }

  messagesIn(channel: string, threadTs?: string): Message[] {
    return this.state.messagesIn(channel, threadTs);
  }

  ephemeralsFor(userId: string): EphemeralMessage[] {
    return this.state.ephemerals.filter((message) => message.viewer === userId && !message.deleted);
  }

  /** The modal a person has in front of them. */
  modalOf(userId: string): View | undefined {
    return this.state.openModals(userId).at(-1);
  }

  homeOf(userId: string): View | undefined {
    return this.state.homeOf(userId);
  }

  /** Answers the next calls of a method with 429. */
  rateLimit(method: string, options: { calls: number; retryAfterSeconds: number }): void {
    this.#rateLimits.push({ method, remaining: options.calls, retryAfterSeconds: options.retryAfterSeconds });
  }

  /** Tells the app on all its connections that Slack is about to close them. */
  disconnectSockets(reason: DisconnectReason): void {
    this.#around.socketMode.connections.disconnect(reason);
  }

  /** Waits until the predicate finds something; it is asked again after every change. */
  until<T>(
    predicate: (workspace: Workspace) => T | undefined | false,
    options: { timeoutMs?: number; what?: string } = {},
  ): Promise<T> {
    const { timeoutMs = 5_000, what = predicate.toString() } = options;
    return new Promise((resolve, reject) => {
      const finish = (settle: () => void) => {
        clearTimeout(timer);
        this.state.events.off('change', look);
        settle();
      };
      const look = () => {
        try {
          const found = predicate(this);
          if (found !== undefined && found !== false) finish(() => resolve(found));
        } catch (error) {
          finish(() => reject(error));
        }
      };
      const giveUp = () =>
        finish(() =>
          reject(new Error(`After ${timeoutMs} ms Slack had not seen: ${what}\n${this.describe()}`)),
        );
      const timer = setTimeout(giveUp, timeoutMs);
      this.state.events.on('change', look);
      look();
    });
  }

  /** What Slack saw lately, for the text of a failure. */
  describe(): string {
    const messages = this.state.messages.slice(-10).map((message) => {
      const thread = message.thread_ts === undefined ? '' : ` in thread ${message.thread_ts}`;
      const marks = `${message.deleted ? ' (deleted)' : ''}${message.history.length > 0 ? ' (edited)' : ''}`;
      return `  ${message.channel} ${message.ts}${thread} ${message.user}: ${message.text}${marks}`;
    });
    const ephemerals = this.state.ephemerals
      .slice(-5)
      .map((each) => `  only for ${each.viewer}: ${each.text}`);
    const calls = this.calls.slice(-10).map((call) => {
      return `  ${call.method} -> ${call.response.ok === true ? 'ok' : JSON.stringify(call.response)}`;
    });
    const deliveries = this.deliveries.slice(-10).map(({ type, attempts, outcome }) => {
      const failure = outcome.kind === 'failed' ? ` (${outcome.reason})` : '';
      return `  ${type}, ${attempts.length} attempts: ${outcome.kind}${failure}`;
    });
    return [
      `Socket connections: ${this.socketConnections}`,
      'Last messages:',
      ...messages,
      ...ephemerals,
      'Last calls:',
      ...calls,
      'Last deliveries:',
      ...deliveries,
    ].join('\n');
  }
}
