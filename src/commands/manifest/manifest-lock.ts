import type { Connections } from '../../tools/mcp/auth/person/connections.ts';
import { ONLY_BOT } from '../../tools/mcp/auth/person/create-identities.ts';
import { Secrets } from '../../tools/secrets.ts';
import { openToolbox } from '../../tools/toolbox/open-toolbox.ts';
import { LOCK_FILE, parseLock, readLockText, writeLock } from '../../tools/toolbox/tool-lock.ts';
import { type Command, type CommandContext, EXIT } from '../shared/command.ts';
import { Failure } from '../shared/errors.ts';
import { manifestFile, requireManifest } from '../shared/load-manifest.ts';
import { readOptions } from '../shared/options.ts';
import { withConnectionsOf } from '../shared/person-connections.ts';

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
  const toolbox = await openToolbox({ ...manifest, tools }, { folder, secrets, log, connections });
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
