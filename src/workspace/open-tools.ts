import { z } from 'zod';
import { tryParseJson } from '../agent/json.ts';
import { type Accounts, openAccounts, openConnections } from '../bot/connections/connect-flow.ts';
import { workspaceProfiles } from '../bot/slack/profiles.ts';
import { workspaceGroups } from '../bot/slack/user-groups.ts';
import { grantFinder } from '../engine/asks/grants.ts';
import { observeTools } from '../observe/observed-tool.ts';
import { manifestIn } from '../store/documents/manifest.ts';
import type { Store } from '../store/port/store.ts';
import { changeKey } from '../tools/manifest/govern.ts';
import { Sealer } from '../tools/mcp/auth/connections.ts';
import { type OpenToolbox, openToolbox } from '../tools/toolbox/open-toolbox.ts';
import { contentReader } from './content-reader.ts';
import type { BotProcess, Installation } from './installation.ts';
import { Listeners } from './listeners.ts';
import type { WorkspaceRecord } from './open-record.ts';
import type { WorkspaceSlack } from './open-slack.ts';

/** The tools of a workspace, and the accounts that people have connected for them. */
export interface WorkspaceTools {
  readonly toolbox: OpenToolbox;
  readonly accounts: Accounts;
  /** Told that a definition was listed which no admin has locked. */
  readonly unlocked: Listeners;
}

/** Opens the tools of the manifest and of the program; one that cannot be opened is a problem of the toolbox. */
export async function openTools(
  { folder, code, policyChanges }: Installation,
  process: BotProcess,
  { store, manifest, lock, replaced }: WorkspaceRecord,
  { connection, directory }: WorkspaceSlack,
): Promise<WorkspaceTools> {
  const { settings, secrets, metrics } = process;
  const { publicUrl, proxy } = settings;
  const logger = process.logger.child({ part: 'tools' });
  const unlocked = new Listeners();
  const stored = { store, sealer: readSealer(settings.connectionsKey), publicUrl, secrets, logger };
  const connections = openConnections(stored);
  const toolbox = await openToolbox(manifest, {
    connections,
    code,
    folder,
    secrets,
    log: logger,
    proxy,
    around: observeTools({ metrics, content: contentReader(process) }),
    readTotals: (limits) => store.readTotals(limits),
    findGrant: grantFinder({ store, directory }),
    userGroups: workspaceGroups({ client: connection.app.client, logger: process.logger }),
    profiles: workspaceProfiles({ directory, logger: process.logger }),
    firstSeen: (server, listed) => firstSeenIn(store, server, listed),
    onUnlocked: unlocked.emit,
    onReplaced: replaced.emit,
    lock,
    approveChange: async (change) => {
      const approved = await manifestIn(store).approveManifest(change.from, change.to, changeKey(change));
      policyChanges?.onApproved();
      return approved;
    },
  });
  const findServer = (name: string) => toolbox.requesterServers().find((server) => server.name === name);
  return { toolbox, accounts: openAccounts(connections, { ...stored, findServer }), unlocked };
}

/** Reads the key of connected accounts; a wrong one is an error. */
export function readSealer(key: string | undefined): Sealer | undefined {
  const sealer = key === undefined ? undefined : Sealer.read(key);
  if (typeof sealer === 'string') throw new Error(`CONNECTIONS_KEY ${sealer}`);
  return sealer;
}

const Digests = z.array(z.tuple([z.string(), z.string()]));

/** Keeps the digests of a server's tools as they were listed first, by any process, and returns them. */
async function firstSeenIn(
  store: Store,
  server: string,
  listed: ReadonlyMap<string, string>,
): Promise<ReadonlyMap<string, string>> {
  const value = JSON.stringify([...listed]);
  await store.writeDocument('first-seen', server, { version: 'first', value }, { replaces: '' });
  const found = await store.readDocument('first-seen', server);
  return new Map(Digests.parse(tryParseJson(found?.value ?? '')));
}
