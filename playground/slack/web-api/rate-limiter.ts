const MINUTE = 60_000;

/** Calls per minute in each of Slack's tiers; the special tier allows hundreds. */
const TIERS = { tier2: 20, tier3: 50, tier4: 100, special: 600 } as const;

const METHOD_TIERS: Readonly<Record<string, keyof typeof TIERS>> = {
  'agents.sessions.rename': 'tier3',
  'agents.sessions.setStatus': 'tier3',
  'apps.connections.open': 'tier3',
  'assistant.threads.setStatus': 'special',
  'assistant.threads.setSuggestedPrompts': 'tier4',
  'assistant.threads.setTitle': 'tier4',
  'auth.test': 'special',
  'blocks.validate': 'special',
  'bots.info': 'tier3',
  'chat.appendStream': 'tier4',
  'chat.delete': 'tier3',
  'chat.getPermalink': 'special',
  'chat.postEphemeral': 'tier4',
  'chat.startStream': 'tier2',
  'chat.stopStream': 'tier2',
  'chat.update': 'tier3',
  'conversations.history': 'tier3',
  'conversations.info': 'tier3',
  'conversations.members': 'tier4',
  'conversations.open': 'tier3',
  'conversations.replies': 'tier3',
  'files.completeUploadExternal': 'tier4',
  'files.delete': 'tier3',
  'files.getUploadURLExternal': 'tier4',
  'files.info': 'tier4',
  'reactions.add': 'tier3',
  'reactions.get': 'tier3',
  'reactions.remove': 'tier2',
  'team.info': 'tier3',
  'usergroups.list': 'tier2',
  'usergroups.users.list': 'tier2',
  'users.info': 'tier4',
  'users.list': 'tier2',
  'users.lookupByEmail': 'tier3',
  'views.open': 'tier4',
  'views.publish': 'tier4',
  'views.push': 'tier4',
  'views.update': 'tier4',
};

/** Slack's rate limits: a number of calls a minute for each method, and one posted message a second for each channel. */
export class RateLimiter {
  readonly #admitted = new Map<string, number[]>();
  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** Counts a call, or returns the number of seconds to wait. */
  admit(method: string, channel: unknown): number | undefined {
    if (method === 'chat.postMessage') return this.#take(`${method} ${String(channel)}`, 1, 1_000);
    return this.#take(method, TIERS[METHOD_TIERS[method] ?? 'tier3'], MINUTE);
  }

  #take(key: string, limit: number, windowMs: number): number | undefined {
    const now = this.#now();
    const recent = (this.#admitted.get(key) ?? []).filter((at) => at > now - windowMs);
    this.#admitted.set(key, recent);
    const oldest = recent[0];
    if (oldest === undefined || recent.length < limit) {
      recent.push(now);
      return undefined;
    }
    return Math.max(1, Math.ceil((oldest + windowMs - now) / 1_000));
  }
}
