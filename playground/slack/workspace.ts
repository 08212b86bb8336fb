import type { AttemptAnswer, Delivery, EnvelopeType, InteractionOutcome } from './delivery/delivery.ts';
import type { Forgery, RawAnswer, RequestUrl } from './http/request-url.ts';
import type { RequestContent } from './http/sign-request.ts';
import type { SlackContext } from './people/interaction.ts';
import { Person } from './people/person.ts';
import type { Shortcoming } from './shortcomings.ts';
import type { Connections, DisconnectReason } from './socket-mode/connections.ts';
import { findSession } from './state/sessions.ts';
import type {
  AgentSession,
  EphemeralMessage,
  EventSubscription,
  JsonObject,
  Message,
  SuggestedPrompts,
  View,
} from './state/types.ts';
import type { WorkspaceState } from './state/workspace-state.ts';
import type { ApiServing } from './web-api/answer-call.ts';
import type { Fault, FaultOptions } from './web-api/faults.ts';
import type { RecordedCall } from './web-api/handle-call.ts';
import { RateLimiter } from './web-api/rate-limiter.ts';
import { type SentPayload, sentPayloads } from './web-api/sent-payloads.ts';

interface WorkspaceParts {
  context: SlackContext;
  serving: ApiServing;
  connections: Connections;
  requestUrl: RequestUrl;
}

/** The workspace's interface for tests and the playground. */
export class Workspace {
  readonly state: WorkspaceState;
  /** Every call of the Web API, in the order Slack answered them. */
  readonly calls: RecordedCall[];
  readonly #context: SlackContext;
  readonly #serving: ApiServing;
  readonly #connections: Connections;
  readonly #requestUrl: RequestUrl;

  constructor({ context, serving, connections, requestUrl }: WorkspaceParts) {
    this.state = context.state;
    this.calls = serving.calls;
    this.#context = context;
    this.#serving = serving;
    this.#connections = connections;
    this.#requestUrl = requestUrl;
  }

  /** All deliveries to the app, with each attempt and its answer. */
  get deliveries(): readonly Delivery[] {
    return this.#context.deliveries.all;
  }

  get socketConnections(): number {
    return this.#connections.count;
  }

  as(userId: string): Person {
    if (!this.state.users.has(userId)) throw new Error(`There is no user ${userId} in this workspace.`);
    return new Person(this.#context, userId);
  }

  /** The id of a person's direct messages with the bot. */
  directMessages(userId: string): string {
    return this.state.openDirectMessage(userId).id;
  }

  messagesIn(channel: string, threadTs?: string): Message[] {
    return this.state.messagesIn(channel, threadTs);
  }

  ephemeralsFor(userId: string): EphemeralMessage[] {
    return this.state.ephemeralsFor(userId);
  }

  /** Sends the app a payload as it is, for what no person of the local Slack does. */
  deliver(type: EnvelopeType, payload: JsonObject): Promise<InteractionOutcome> {
    return this.#context.deliveries.deliverRaw(type, payload);
  }

  /** The modal a person has in front of them. */
  modalOf(userId: string): View | undefined {
    return this.state.openModals(userId).at(-1);
  }

  homeOf(userId: string): View | undefined {
    return this.state.homeOf(userId);
  }

  /** Returns the session of a thread. */
  sessionOf(channel: string, threadTs: string): AgentSession | undefined {
    return findSession(this.state, channel, threadTs);
  }

  /** The prompts a person is offered in their conversation with the app. */
  suggestedPromptsFor(userId: string, threadTs?: string): SuggestedPrompts | undefined {
    const channel = this.directMessages(userId);
    return this.state.suggestedPrompts.get(threadTs === undefined ? channel : `${channel}:${threadTs}`);
  }

  /** All payloads sent by the app, for schema checks. */
  payloads(): SentPayload[] {
    return sentPayloads(this.calls, this.#context.responseUrls.received, this.deliveries);
  }

  /** The scopes of the bot token that something in this run needed, in order of their names. */
  usedScopes(): string[] {
    return [...this.state.used.scopes].sort();
  }

  /** The subscriptions of which this run sent the app at least one event, in order of their names. */
  usedEvents(): EventSubscription[] {
    return [...this.state.used.events].sort();
  }

  /** Makes the workspace one that does less than the documentation says. */
  fallShort(...shortcomings: readonly Shortcoming[]): void {
    for (const each of shortcomings) this.state.shortcomings.add(each);
  }

  /** Keeps Slack's rate limits from now on. */
  keepLimits(): void {
    this.#serving.handling.rateLimiter = new RateLimiter();
  }

  /** Answers the next calls of a method with 429. */
  rateLimit(method: string, options: { calls: number; retryAfterSeconds: number }): void {
    this.#serving.handling.rateLimits.push({
      method,
      remaining: options.calls,
      retryAfterSeconds: options.retryAfterSeconds,
    });
  }

  /** Injects a fault into the next call of a method, or of any with `*`. */
  fail(method: string, fault: Fault, options: FaultOptions = {}): void {
    this.#serving.faults.add(method, fault, options);
  }

  /** Revokes the bot's token for good, as when the app is removed. */
  revokeToken(): void {
    this.state.app.isTokenRevoked = true;
  }

  /** Announces to the oldest connections, or to all, that Slack will close them. */
  disconnectSockets(reason: DisconnectReason, count?: number): void {
    this.#connections.disconnect(reason, count);
  }

  /** Delivers something again although it was acknowledged. */
  async redeliver(delivery: Delivery): Promise<AttemptAnswer> {
    return await this.#context.deliveries.redeliver(delivery);
  }

  /** Sets where HTTP deliveries go, once the app there has returned Slack's challenge. */
  async changeRequestUrl(url: string): Promise<void> {
    await this.#requestUrl.change(url);
  }

  /** Sends the app a forged request that it must reject. */
  async sendForged(forgery: Forgery, content: RequestContent): Promise<RawAnswer> {
    return await this.#requestUrl.forge(forgery, content);
  }

  /** Sends the request of an earlier delivery again, with its old signature. */
  async replay(delivery: Delivery): Promise<RawAnswer> {
    return await this.#requestUrl.replay(delivery);
  }

  /** Sends the app Slack's unsigned certificate check. */
  async sendSslCheck(): Promise<RawAnswer> {
    return await this.#requestUrl.checkSsl();
  }

  /** Waits until the predicate finds something; it runs again after every change. */
  until<T>(
    predicate: (workspace: Workspace) => T | undefined | false,
    options: { timeoutMs?: number; what?: string } = {},
  ): Promise<T> {
    const { timeoutMs = 60_000, what = predicate.toString() } = options;
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

  /** Describes the latest activity for a failure message. */
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
