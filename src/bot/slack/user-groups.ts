import type { WebClient } from '@slack/web-api';
import type { Logger } from 'pino';
import type { UserGroups } from '../../tools/gate.ts';

/** An answer of Slack is used for so long without asking again: enough for a burst of calls, too short for a removed member to matter. */
const KEPT_MS = 30_000;
/** After so long without an answer of Slack nobody is known to be in any group. */
const KNOWN_MS = 60_000;

/** Keeps the members of all user groups as Slack listed them last. What Slack does not say is not known; nobody is in a disabled group. */
export function workspaceGroups({
  client,
  logger,
}: {
  readonly client: WebClient;
  readonly logger: Pick<Logger, 'warn'>;
}): UserGroups {
  let listed: { readonly at: number; readonly groups: ReadonlyMap<string, readonly string[]> } | undefined;
  let running: Promise<void> | undefined;
  const list = async (): Promise<void> => {
    const at = Date.now();
    try {
      const { usergroups = [] } = await client.usergroups.list({ include_users: true });
      listed = { at, groups: new Map(usergroups.map(({ id = '', users = [] }) => [id, users])) };
    } catch (err) {
      logger.warn({ err }, 'user groups not looked up');
    }
  };
  return {
    async refresh() {
      if (listed !== undefined && Date.now() - listed.at < KEPT_MS) return;
      running ??= list().finally(() => {
        running = undefined;
      });
      await running;
    },
    of(person) {
      if (listed === undefined || Date.now() - listed.at > KNOWN_MS) return undefined;
      return [...listed.groups].flatMap(([id, users]) => (users.includes(person) ? [id] : []));
    },
  };
}
