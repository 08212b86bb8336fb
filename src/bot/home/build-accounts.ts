import type { KnownBlock } from '@slack/types';
import type { RequesterServer } from '../../tools/mcp/auth/connections.ts';
import { plain } from '../cards/card.ts';
import { showLabel } from '../cards/values/show-text.ts';
import type { BotContext } from '../context.ts';
import { limits } from '../slack/limits.ts';
import { connectionTexts } from '../texts/connections.ts';

export const HOME_CONNECT = 'home-connect';
export const HOME_DISCONNECT = 'home-disconnect';

/** A full Home has almost as many blocks as Slack takes. */
const MAX_SERVERS = 5;

/** The account of a person at a server, or that there is none. */
export interface Account {
  readonly server: Pick<RequesterServer, 'name' | 'url'>;
  readonly isConnected: boolean;
}

/** Lists the accounts of a person; a server whose record cannot be read counts as not connected. */
export function loadAccounts({ toolbox, accounts }: BotContext, person: string): Promise<Account[]> {
  return Promise.all(
    toolbox
      .requesterServers()
      .slice(0, MAX_SERVERS)
      .map(async (server) => ({
        server,
        isConnected: await accounts.connections.isConnected(server, person).catch(() => false),
      })),
  );
}

/** Builds the accounts of a person, each with the button that connects or disconnects it. */
export function buildAccounts(accounts: readonly Account[]): KnownBlock[] {
  if (accounts.length === 0) return [];
  return [
    { type: 'header', text: plain(connectionTexts.homeTitle) },
    ...accounts.map(({ server: { name, url }, isConnected }): KnownBlock => {
      const [server, { host }] = [showLabel(name, limits.label), new URL(url)];
      return {
        type: 'section',
        text: plain(
          isConnected
            ? connectionTexts.homeConnected(server, host)
            : connectionTexts.homeNotConnected(server, host),
        ),
        accessory: {
          type: 'button',
          action_id: isConnected ? HOME_DISCONNECT : HOME_CONNECT,
          value: name,
          text: plain(isConnected ? connectionTexts.disconnect : connectionTexts.connect),
        },
      };
    }),
  ];
}
