import { pino } from 'pino';
import { openConnections } from '../../bot/connections/connect-flow.ts';
import { isPerson } from '../../store/port/keys.ts';
import { AuthorizationError } from '../../tools/errors.ts';
import { readProxy } from '../../tools/http/proxy.ts';
import { LOCK_FILE, parseLock, readLockText, writeLock } from '../../tools/manifest/tool-lock.ts';
import { type Connections, Sealer } from '../../tools/mcp/auth/connections.ts';
import { ONLY_BOT } from '../../tools/mcp/auth/create-identities.ts';
import { Secrets } from '../../tools/secrets.ts';
import { openToolbox } from '../../tools/toolbox/open-toolbox.ts';
import {
  type Command,
  type CommandContext,
  EXIT,
  Failure,
  readOptions,
  UsageError,
} from '../shared/command.ts';
import { manifestFile, requireManifest } from '../shared/load-manifest.ts';
import { withRecord } from '../shared/open-record.ts';

/** Accepts the definitions of all MCP tools as they are now. */
export const manifestLock: Command = {
  help: `Usage: countersign manifest lock [file] [--as PERSON]

Connects to every MCP server of the manifest and writes the digest of each tool's definition (name, texts, schemas,
annotations) to ${LOCK_FILE} beside the manifest. Review the tools first, and commit the file. Where it exists, a tool
that is new or whose definition differs is offered to nobody until it is locked. A running bot reads the file again.

  --as PERSON    list the tools of servers that want an account with the one that this person has connected, such as
                 U012ABCDEF; needs REDIS_URL and CONNECTIONS_KEY

Exit code: 0 written, 1 a server could not be reached, 2 wrong usage.
`,
  async run(args, context) {
    const { positionals, values } = readOptions(args, { as: { type: 'string' } }, { positionals: 1 });
    const secrets = new Secrets();
    const [file] = positionals;
    if (values.as === undefined) return lock(context, { file, secrets });
    return withConnectionsOf(values.as, context, secrets, (connections) =>
      lock(context, { file, secrets, connections }),
    );
  },
};

interface LockSettings {
  readonly file: string | undefined;
  readonly secrets: Secrets;
  readonly connections?: Connections;
}

async function lock(
  { environment, write }: CommandContext,
  { file, secrets, connections }: LockSettings,
): Promise<number> {
  const loaded = await requireManifest(manifestFile(environment, file), environment);
  const { manifest, folder } = loaded;
  for (const value of loaded.secrets) secrets.add(value);
  const tools = manifest.tools.filter(({ kind }) => kind === 'mcp');
  const log = { info: () => {}, warn: () => {} };
  const proxy = readProxy(environment);
  const toolbox = await openToolbox({ ...manifest, tools }, { folder, secrets, log, connections, proxy });
  try {
    const down = toolbox.servers().filter(({ state }) => state !== 'connected');
    if (down.length > 0) {
      const reasons = down.map(({ name, lastError }) => `${name}: ${whyNotListed(lastError)}`);
      throw new Failure(secrets.redact(`nothing was locked\n${reasons.join('\n')}`));
    }
    const former = parseLock(await readLockText(folder));
    const definitions = toolbox.definitions();
    await writeLock(folder, definitions);
    for (const { server, tool, digest } of definitions) {
      const known = former?.digestOf(server, tool);
      if (known !== digest) await write(`${known === undefined ? 'new' : 'changed'}: ${server}: ${tool}\n`);
    }
    await write(`${LOCK_FILE}: ${definitions.length} definitions of ${tools.length} servers\n`);
    return EXIT.ok;
  } finally {
    await toolbox.close();
  }
}

function whyNotListed(lastError = 'it did not start'): string {
  if (!lastError.includes(ONLY_BOT)) return lastError;
  return 'it lists its tools only for people who have connected an account; name one of them with --as PERSON';
}

/** Lends a command the accounts of one person, as they have connected them; those of nobody else. */
function withConnectionsOf<Result>(
  person: string,
  context: CommandContext,
  secrets: Secrets,
  work: (connections: Connections) => Promise<Result>,
): Promise<Result> {
  if (!isPerson(person)) throw new UsageError(`--as needs the id of a person, but got "${person}"`);
  const { CONNECTIONS_KEY: key = '', PUBLIC_URL: publicUrl = 'http://localhost' } = context.environment;
  const sealer = Sealer.read(key);
  if (typeof sealer === 'string') throw new Failure(`CONNECTIONS_KEY ${sealer}`);
  return withRecord(context, ({ store }) => {
    const connections = openConnections({
      store,
      sealer,
      publicUrl,
      secrets,
      logger: pino({ level: 'silent' }),
    });
    return work({
      isConnected: (server, who) => connections.isConnected(server, who),
      token: (server, who) => connections.token(server, who),
      renew: (server, who, refused) => connections.renew(server, who, refused),
      async widen(_server, _who, { scope = '' }) {
        throw new AuthorizationError(`the account of ${person} lacks the scope "${scope}"`);
      },
      async someone(server) {
        await connections.token(server, person).catch((error: unknown) => {
          if (!(error instanceof AuthorizationError && error.needsConsent)) throw error;
          throw new AuthorizationError(`${person} has not connected an account there`);
        });
        return person;
      },
    });
  });
}
