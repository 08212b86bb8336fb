import type { WebClient } from '@slack/web-api';
import { judgeSlackFailure } from '../delivery/slack-failure.ts';

/** What we need to know of a member of Slack. */
export interface Member {
  readonly id: string;
  readonly name: string;
  readonly isBot: boolean;
  readonly isGuest: boolean;
  readonly isStranger: boolean;
  readonly isDeactivated: boolean;
}

const KEPT_MS = 30_000;

interface Kept<Value> {
  readonly value: Promise<Value>;
  readonly until: number;
}

/**
 * Looks people and user groups up in Slack and keeps the answers briefly: long enough for a burst of clicks, too short for
 * somebody who was removed to go on signing. A look-up that fails is not kept, and throws.
 */
export class Directory {
  readonly #client: WebClient;
  readonly #members = new Map<string, Kept<Member>>();
  readonly #groups = new Map<string, Kept<readonly string[]>>();
  readonly #memberships = new Map<string, Kept<readonly string[]>>();
  #team: Promise<string> | undefined;

  constructor(client: WebClient) {
    this.#client = client;
  }

  /** The same look-ups with nothing kept: what holds at this moment. */
  fresh(): Directory {
    const fresh = new Directory(this.#client);
    // The workspace of an installation never changes.
    fresh.#team = this.#team;
    return fresh;
  }

  member(userId: string): Promise<Member> {
    return keep(this.#members, userId, () => this.#lookUpMember(userId));
  }

  /** The ids of a user group's people. */
  group(groupId: string): Promise<readonly string[]> {
    return keep(this.#groups, groupId, async () => {
      const { users = [] } = await this.#client.usergroups.users.list({ usergroup: groupId });
      return users;
    });
  }

  /** The ids of the user groups that somebody is in. */
  groupsOf(userId: string): Promise<readonly string[]> {
    return keep(this.#memberships, userId, async () => {
      const { usergroups = [] } = await this.#client.usergroups.list({ include_users: true });
      return usergroups.flatMap(({ id, users = [] }) =>
        id !== undefined && users.includes(userId) ? [id] : [],
      );
    });
  }

  /** The people that some ids stand for; a group that cannot be looked up stands for nobody. */
  async peopleOf(principals: readonly string[]): Promise<string[]> {
    return (await this.peopleBehind(principals)).people;
  }

  /** The same, and whether these are all: a group that is gone has nobody in it, one that Slack cannot tell of now may have. */
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

  async #lookUpMember(userId: string): Promise<Member> {
    const [{ user }, team] = await Promise.all([this.#client.users.info({ user: userId }), this.ownTeam()]);
    return {
      id: userId,
      name: user?.profile?.display_name || user?.real_name || user?.name || userId,
      isBot: user?.is_bot === true || userId === 'USLACKBOT',
      isGuest: user?.is_restricted === true || user?.is_ultra_restricted === true,
      isStranger: user?.is_stranger === true || (user?.team_id !== undefined && user.team_id !== team),
      isDeactivated: user === undefined || user.deleted === true,
    };
  }

  /** The id of the workspace that the bot is installed in. */
  ownTeam(): Promise<string> {
    this.#team ??= this.#client.auth.test().then(
      ({ team_id }) => team_id ?? '',
      (error: unknown) => {
        this.#team = undefined;
        throw error;
      },
    );
    return this.#team;
  }
}

/** User groups' ids begin with S, people's with U or W. */
export function isGroup(id: string): boolean {
  return id.startsWith('S');
}

function keep<Value>(
  kept: Map<string, Kept<Value>>,
  id: string,
  lookUp: () => Promise<Value>,
): Promise<Value> {
  const known = kept.get(id);
  if (known !== undefined && known.until > Date.now()) return known.value;
  const value = lookUp();
  kept.set(id, { value, until: Date.now() + KEPT_MS });
  value.catch(() => kept.delete(id));
  return value;
}
