import type { WebClient } from '@slack/web-api';
import type { Member as KnownMember, Directory as People } from '../../engine/ports.ts';
import { judgeSlackFailure } from './slack-failure.ts';

/** A member of Slack. */
export interface Member extends KnownMember {
  /** The person's own workspace, if Slack names it. */
  readonly team?: string | undefined;
}

/** The bot's own user, and its workspace. */
export interface BotIdentity {
  readonly user: string;
  readonly team: string;
  /** The scopes of its token, as Slack says with every answer. */
  readonly scopes: readonly string[] | undefined;
}

const KEPT_MS = 30_000;
/** The most answers in each cache; the oldest leave first. */
const MAX_KEPT = 1_000;
/** The time for which `relaxed` uses an older answer while it is looked up again. */
const STALE_MS = 600_000;

interface Kept<Value> {
  readonly value: Promise<Value>;
  readonly until: number;
  isRefreshing: boolean;
}

/** The cached answers of Slack. */
class Cache {
  readonly members = new Map<string, Kept<Member>>();
  readonly groups = new Map<string, Kept<readonly string[]>>();
  readonly groupNames = new Map<string, Kept<string | undefined>>();
  readonly channelNames = new Map<string, Kept<string | undefined>>();
  readonly memberships = new Map<string, Kept<readonly string[]>>();
  readonly emails = new Map<string, Kept<string | undefined>>();
  self: Promise<BotIdentity> | undefined;
}

/**
 * Looks up people and user groups in Slack, and caches the answers for 30 seconds: enough for a burst of clicks, too short for a
 * removed approver to matter. A failed look-up is not cached, and throws.
 */
export class Directory implements People {
  readonly #client: WebClient;
  readonly #cache: Cache;
  readonly #staleMs: number;

  constructor(client: WebClient, cache = new Cache(), staleMs = 0) {
    this.#client = client;
    this.#cache = cache;
    this.#staleMs = staleMs;
  }

  /** Returns a directory with an empty cache. */
  fresh(): Directory {
    const cache = new Cache();
    // The user and the workspace of an installation never change.
    cache.self = this.#cache.self;
    return new Directory(this.#client, cache);
  }

  /**
   * Returns a directory that answers from the cache for ten minutes, and refreshes it beside that. For names and for whom to ask, so
   * that nobody waits for Slack; a decision is checked without it.
   */
  relaxed(): Directory {
    return new Directory(this.#client, this.#cache, STALE_MS);
  }

  member(userId: string): Promise<Member> {
    return this.#keep(this.#cache.members, userId, () => this.#lookUpMember(userId));
  }

  /** Returns the name of a person, a user group or a public channel; `undefined` if Slack has none, or tells the bot none. */
  async nameOf(id: string): Promise<string | undefined> {
    if (isSlackPerson(id)) return (await this.member(id)).name;
    if (/^C[A-Z0-9]{6,20}$/.test(id))
      return this.#keep(this.#cache.channelNames, id, () => this.#lookUpChannel(id));
    if (!/^S[A-Z0-9]{6,20}$/.test(id)) return undefined;
    return this.#keep(this.#cache.groupNames, id, async () => {
      const { usergroups = [] } = await this.#client.usergroups.list();
      const group = usergroups.find((each) => each.id === id);
      return group?.handle === undefined ? group?.name : `@${group.handle}`;
    });
  }

  /** Lists the members of a user group. */
  group(groupId: string): Promise<readonly string[]> {
    return this.#keep(this.#cache.groups, groupId, async () => {
      const { users = [] } = await this.#client.usergroups.users.list({ usergroup: groupId });
      return users;
    });
  }

  /** Lists the user groups of a person. */
  groupsOf(userId: string): Promise<readonly string[]> {
    return this.#keep(this.#cache.memberships, userId, async () => {
      const { usergroups = [] } = await this.#client.usergroups.list({ include_users: true });
      return usergroups.flatMap(({ id, users = [] }) =>
        id !== undefined && users.includes(userId) ? [id] : [],
      );
    });
  }

  /** Returns the person with an email address; `undefined` if there is nobody. */
  personWithEmail(email: string): Promise<string | undefined> {
    return this.#keep(this.#cache.emails, email.toLowerCase(), async () => {
      try {
        const { user } = await this.#client.users.lookupByEmail({ email });
        return user?.id;
      } catch (error) {
        if (judgeSlackFailure(error).reason === 'users_not_found') return undefined;
        throw error;
      }
    });
  }

  /** Tells whether a person is one of these people, or in one of these groups. */
  async isAmong(userId: string, principals: readonly string[]): Promise<boolean> {
    if (principals.includes(userId)) return true;
    for (const group of principals.filter(isGroup)) {
      if ((await this.group(group)).includes(userId)) return true;
    }
    return false;
  }

  /** Resolves people and groups to people; a group that cannot be looked up counts as empty. */
  async peopleOf(principals: readonly string[]): Promise<string[]> {
    return (await this.peopleBehind(principals)).people;
  }

  /** The same, but throws if Slack could not look a group up, so that the work is tried again. */
  async surePeopleOf(principals: readonly string[]): Promise<string[]> {
    const { people, isSure } = await this.peopleBehind(principals);
    if (!isSure) throw new Error('The members of a group could not be looked up');
    return people;
  }

  /** The same, with `isSure` false if Slack could not look a group up; a group that is gone is empty for sure. */
  async peopleBehind(
    principals: readonly string[],
  ): Promise<{ readonly people: string[]; readonly isSure: boolean }> {
    let isSure = true;
    const found = await Promise.all(
      principals.map(async (id) => {
        if (!isGroup(id)) return [id];
        return await this.group(id).catch((error: unknown) => {
          if (judgeSlackFailure(error).kind === 'later') isSure = false;
          return [];
        });
      }),
    );
    return { people: [...new Set(found.flat())], isSure };
  }

  isPerson(id: string): boolean {
    return isSlackPerson(id);
  }

  isGroup(id: string): boolean {
    return isGroup(id);
  }

  mayAskLater(error: unknown): boolean {
    return judgeSlackFailure(error).kind === 'later';
  }

  async #lookUpMember(userId: string): Promise<Member> {
    const [{ user }, team] = await Promise.all([this.#client.users.info({ user: userId }), this.ownTeam()]);
    return {
      id: userId,
      name: user?.profile?.display_name || user?.real_name || user?.name || userId,
      isBot: user?.is_bot === true || userId === 'USLACKBOT',
      isGuest: user?.is_restricted === true || user?.is_ultra_restricted === true,
      isStranger: user?.is_stranger === true || (user?.team_id !== undefined && user.team_id !== team),
      isDeactivated: user === undefined || user.deleted === true,
      team: user?.team_id,
      email: user?.profile?.email,
      timeZone: user?.tz,
      status: statusIn(user?.profile),
    };
  }

  /** Not everybody who reads a name may know of a private channel. Without the scope there is no name, and that is kept as well. */
  async #lookUpChannel(channel: string): Promise<string | undefined> {
    try {
      const { scopes } = await this.self();
      if (scopes?.includes('channels:read') === false) return undefined;
      const { channel: found } = await this.#client.conversations.info({ channel });
      return found?.is_private === false && found.name !== undefined ? `#${found.name}` : undefined;
    } catch (error) {
      if (judgeSlackFailure(error).kind === 'later') throw error;
      return undefined;
    }
  }

  /** Returns the id of the bot's workspace. */
  async ownTeam(): Promise<string> {
    return (await this.self()).team;
  }

  self(): Promise<BotIdentity> {
    this.#cache.self ??= this.#client.auth.test().then(
      ({ user_id: user = '', team_id: team = '', response_metadata: facts }) => ({
        user,
        team,
        scopes: facts?.scopes,
      }),
      (error: unknown) => {
        this.#cache.self = undefined;
        throw error;
      },
    );
    return this.#cache.self;
  }

  #keep<Value>(kept: Map<string, Kept<Value>>, id: string, lookUp: () => Promise<Value>): Promise<Value> {
    const known = kept.get(id);
    const now = Date.now();
    if (known !== undefined && now < known.until) return known.value;
    const mayBeStale = known !== undefined && now < known.until + this.#staleMs;
    if (mayBeStale && known.isRefreshing) return known.value;
    const value = lookUp();
    const fresh = { value, until: now + KEPT_MS, isRefreshing: false };
    if (!mayBeStale) {
      keepNewest(kept, id, fresh);
      value.catch(() => kept.delete(id));
      return value;
    }
    known.isRefreshing = true;
    value.then(
      () => keepNewest(kept, id, { ...fresh, until: Date.now() + KEPT_MS }),
      () => {
        known.isRefreshing = false;
      },
    );
    return known.value;
  }
}

/** Returns the text of a status that has not ended. */
function statusIn({
  status_text: text = '',
  status_expiration: ends = 0,
}: {
  readonly status_text?: string;
  readonly status_expiration?: number;
} = {}): string | undefined {
  const isOver = ends > 0 && ends * 1_000 <= Date.now();
  return text.trim() === '' || isOver ? undefined : text;
}

/** Adds an answer at the end and removes the oldest ones, so that the cache stays bounded. */
function keepNewest<Value>(kept: Map<string, Kept<Value>>, id: string, answer: Kept<Value>): void {
  kept.delete(id);
  kept.set(id, answer);
  for (const oldest of kept.keys()) {
    if (kept.size <= MAX_KEPT) break;
    kept.delete(oldest);
  }
}

/** Tells a user group from a person: its id starts with S, a person's with U or W. */
export function isGroup(id: string): boolean {
  return id.startsWith('S');
}

/** Tells the id of a person in Slack from any other. */
export function isSlackPerson(id: string): boolean {
  return /^[UW][A-Z0-9]+$/.test(id);
}
