import { readProxy } from '../../tools/http/proxy.ts';
import type { Manifest } from '../../tools/manifest/manifest.ts';
import { Secrets } from '../../tools/secrets.ts';
import { type OpenToolbox, openToolbox } from '../../tools/toolbox/open-toolbox.ts';
import { LOCK_FILE } from '../../tools/toolbox/tool-lock.ts';
import { type Finding, failed, notChecked, ok, warning } from './finding.ts';

/** Loads every module and connects to every MCP server of the manifest, as a start would, then closes them. */
export async function checkTools(
  loaded:
    | { readonly manifest: Manifest; readonly folder: string; readonly secrets: readonly string[] }
    | undefined,
  environment: NodeJS.ProcessEnv,
): Promise<Finding[]> {
  if (loaded === undefined) return [notChecked('tools', 'there is no valid manifest to read them from')];
  const secrets = new Secrets();
  for (const secret of loaded.secrets) secrets.add(secret);
  const log = { info: () => {}, warn: () => {} };
  const { manifest, folder } = loaded;
  const toolbox = await openToolbox(manifest, { folder, secrets, log, proxy: readProxy(environment) });
  try {
    const servers = new Map(toolbox.servers().map((server) => [server.name, server]));
    const problems = toolbox.problems();
    const opened = loaded.manifest.tools.flatMap(({ name, kind }): Finding[] => {
      const check = `tool ${name}`;
      const own = problems.filter((problem) => problem.startsWith(`${name}: `));
      const found = own.map((problem) => failed(check, secrets.redact(problem.slice(name.length + 2))));
      const server = servers.get(name);
      if (server === undefined) return found.length > 0 ? found : [ok(check, `${kind}, loaded`)];
      if (server.state !== 'connected') {
        const why = secrets.redact(server.lastError ?? 'it did not start');
        return [failed(check, why, { fix: 'check its command or url' }), ...found];
      }
      return [ok(check, `${server.peer ?? 'an MCP server'}, tools: ${server.tools.length}`), ...found];
    });
    return servers.size === 0 ? opened : [...opened, checkLock(toolbox)];
  } finally {
    await toolbox.close();
  }
}

/** Tells whether the definitions of servers are locked; what differs from the lock is a finding of its server. */
function checkLock({ isLocked, unlocked, definitions }: OpenToolbox): Finding {
  const check = 'tool lock';
  if (!isLocked)
    return warning(
      check,
      `servers can change their tools unseen; review them and run "countersign manifest lock", which writes ${LOCK_FILE}`,
    );
  const count = unlocked().length;
  if (count > 0) return failed(check, `${count} definitions are not as locked, and offered to nobody`);
  return ok(check, `all ${definitions().length} definitions are as locked`);
}
