import { z } from 'zod';
import { makeSecret } from '../ids.ts';
import { LIMITS } from '../limits.ts';
import type { JsonObject } from '../state/types.ts';
import type { WorkspaceState } from '../state/workspace-state.ts';
import { flag, optionalString } from '../web-api/arguments.ts';
import { contentArguments, readContent } from '../web-api/message-content.ts';
import { Refusal } from '../web-api/refusal.ts';

/** Target of a response: the channel of the interaction and the message that was clicked, if any. */
export interface ResponseTarget {
  userId: string;
  channel: string;
  messageTs?: string;
}

const responseSchema = z.object({
  ...contentArguments,
  response_type: z.enum(['ephemeral', 'in_channel']).optional().default('ephemeral'),
  replace_original: flag,
  delete_original: flag,
  thread_ts: optionalString,
});

/** Response URLs of interactions; each accepts a few responses within half an hour. */
export class ResponseUrls {
  /** All requests to the URLs, with Slack's error for refused ones. */
  readonly received: { body: JsonObject; error?: string }[] = [];
  readonly #issued = new Map<string, { target: ResponseTarget; uses: number; expiresAt: number }>();
  readonly #state: WorkspaceState;
  readonly #lifeMs: number;
  readonly #origin: () => string;

  constructor(state: WorkspaceState, lifeMs: number, origin: () => string) {
    this.#state = state;
    this.#lifeMs = lifeMs;
    this.#origin = origin;
  }

  issue(kind: 'actions' | 'commands', target: ResponseTarget): string {
    const path = `/${kind}/${this.#state.team.id}/${Date.now()}/${makeSecret(12)}`;
    this.#issued.set(path, { target, uses: 0, expiresAt: Date.now() + this.#lifeMs });
    return this.#origin() + path;
  }

  /** Answers a POST to one of the URLs. */
  receive(path: string, body: JsonObject): { status: 200 | 400 | 404; body: JsonObject } {
    const answer = this.#answer(path, body);
    const { error } = answer.body;
    this.received.push({ body, ...(typeof error === 'string' && { error }) });
    return answer;
  }

  #answer(path: string, body: JsonObject): { status: 200 | 400 | 404; body: JsonObject } {
    const issued = this.#issued.get(path);
    if (issued === undefined) return refused(404, 'invalid_url');
    if (Date.now() > issued.expiresAt) return refused(404, 'expired_url');
    if (issued.uses >= LIMITS.responseUrlUses) return refused(404, 'used_url');
    try {
      this.respond(issued.target, body);
    } catch (error) {
      if (error instanceof Refusal) return { status: 400, body: error.answer };
      if (error instanceof z.ZodError) return refused(400, 'invalid_payload');
      throw error;
    }
    issued.uses += 1;
    return { status: 200, body: { ok: true } };
  }

  /** Applies a response: posts, replaces or deletes a message. */
  respond(target: ResponseTarget, body: JsonObject): void {
    const response = responseSchema.parse(body);
    const { app } = this.#state;
    const original = this.#original(target);
    if (response.delete_original && original !== undefined) {
      if ('viewer' in original) original.deleted = true;
      else this.#state.remove(original);
      this.#state.changed();
      return;
    }
    const content = readContent(response);
    if (response.replace_original && original !== undefined) {
      if ('viewer' in original) Object.assign(original, content);
      else this.#state.edit(original, content, app.botUserId);
      this.#state.changed();
      return;
    }
    // Slack posts to the main timeline unless the response names a thread, also after a click in a thread.
    const thread = response.thread_ts === undefined ? {} : { thread_ts: response.thread_ts };
    if (response.response_type === 'ephemeral') {
      this.#state.postEphemeral({ ...content, ...thread, channel: target.channel, viewer: target.userId });
      return;
    }
    const author = {
      user: app.botUserId,
      bot_id: app.botId,
      app_id: app.id,
      subtype: 'bot_message',
    } as const;
    this.#state.post({ ...content, ...thread, ...author, channel: target.channel });
  }

  #original({ channel, messageTs }: ResponseTarget) {
    if (messageTs === undefined) return undefined;
    const ephemeral = this.#state.ephemerals.find((message) => message.ts === messageTs && !message.deleted);
    return ephemeral ?? this.#state.findMessage(channel, messageTs);
  }
}

function refused(status: 400 | 404, error: string) {
  return { status, body: { ok: false, error } };
}
