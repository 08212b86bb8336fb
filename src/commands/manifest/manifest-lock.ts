import { Secrets } from '../../tools/secrets.ts';
import { openToolbox } from '../../tools/toolbox/open-toolbox.ts';
import { LOCK_FILE, parseLock, readLockText, writeLock } from '../../tools/toolbox/tool-lock.ts';
import { type Command, EXIT } from '../shared/command.ts';
import { Failure } from '../shared/errors.ts';
import { manifestFile, requireManifest } from '../shared/load-manifest.ts';
import { readOptions } from '../shared/options.ts';

/** Accepts the definitions of all MCP tools as they are now. */
export const manifestLock: Command = {
  help: `Usage: countersign manifest lock [file]

Connects to every MCP server of the manifest and writes the digest of each tool's definition (name, texts, schemas,
annotations) to ${LOCK_FILE} beside the manifest. Review the tools first, and commit the file. Where it exists, a tool
that is new or whose definition differs is offered to nobody until it is locked. A running bot reads the file again.

Exit code: 0 written, 1 a server could not be reached, 2 wrong usage.
`,
  async run(args, { environment, write }) {
    const { positionals } = readOptions(args, {}, { positionals: 1 });
    const {
      manifest,
      folder,
      secrets: values,
    } = await requireManifest(manifestFile(environment, positionals[0]), environment);
    const secrets = new Secrets();
    for (const value of values) secrets.add(value);
    const tools = manifest.tools.filter(({ kind }) => kind === 'mcp');
    const log = { info: () => {}, warn: () => {} };
    const toolbox = await openToolbox({ ...manifest, tools }, { folder, secrets, log });
    try {
      const down = toolbox.servers().filter(({ state }) => state !== 'connected');
      if (down.length > 0) {
        const reasons = down.map(({ name, lastError = 'it did not start' }) => `${name}: ${lastError}`);
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
  },
};
