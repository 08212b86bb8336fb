import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { openConnections } from '../../bot/connections/connect-flow.ts';
import { accountsIn } from '../../store/documents/accounts.ts';
import { isPerson } from '../../store/port/keys.ts';
import { readProxy } from '../../tools/http/proxy.ts';
import { mcpServersOf } from '../../tools/manifest/manifest.ts';
import { Sealer } from '../../tools/mcp/auth/connections.ts';
import { requesterServersOf } from '../../tools/mcp/auth/create-identities.ts';
import { Secrets } from '../../tools/secrets.ts';
import { type Command, EXIT, Failure, readOptions, UsageError } from '../shared/command.ts';
import { manifestFile, requireManifest } from '../shared/load-manifest.ts';
import { withRecord } from '../shared/open-record.ts';
import { accountName } from './operator.ts';

/** Removes the accounts that a person has connected, and tells their issuers. */
export const disconnect: Command = {
  help: `Usage: countersign disconnect PERSON [SERVER]

Removes the accounts that a person has connected at MCP servers, or the one at SERVER, from Redis, and revokes their
tokens where the issuer offers that. The next call in their name asks them to connect again. It goes into the audit log.
Needs REDIS_URL and CONNECTIONS_KEY, and the manifest.

  PERSON         the id of the person, such as U012ABCDEF
  SERVER         the name of the server in the manifest

Exit code: 0 disconnected, 1 the person had connected nothing, 2 wrong usage.
`,
  async run(args, context) {
    const [person, named] = readOptions(args, {}, { positionals: 2 }).positionals;
    if (person === undefined || !isPerson(person))
      throw new UsageError('give the id of a person, such as U012ABCDEF');
    const { environment } = context;
    const { manifest } = await requireManifest(manifestFile(environment), environment);
    const sealer = Sealer.read(environment.CONNECTIONS_KEY ?? '');
    if (typeof sealer === 'string') throw new Failure(`CONNECTIONS_KEY ${sealer}`);
    const servers = requesterServersOf(mcpServersOf(manifest), readProxy(environment));
    return withRecord(context, async ({ store }) => {
      const accounts = accountsIn(store);
      const connections = openConnections({
        store,
        sealer,
        publicUrl: 'http://localhost',
        secrets: new Secrets(),
        logger: pino({ level: 'silent' }),
      });
      const connected = await accounts.serversOf(person);
      const wanted = connected.filter((name) => named === undefined || name === named);
      const by = `operator:${accountName()}`;
      for (const name of wanted) {
        const server = servers.find((each) => each.name === name);
        if (server === undefined) {
          await accounts.removeConnection(name, person);
          await store.note(randomUUID(), 'disconnected', person, { server: name, by, revoked: false });
        } else {
          await connections.disconnect(server, person, by);
        }
        await context.write(`disconnected: ${name}\n`);
      }
      if (wanted.length > 0) return EXIT.ok;
      await context.writeError(
        `${person} has connected nothing${named === undefined ? '' : ` at ${named}`}\n`,
      );
      return EXIT.problem;
    });
  },
};
