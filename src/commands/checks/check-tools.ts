import { readProxy } from '../../tools/http/proxy.ts';
import type { Manifest } from '../../tools/manifest/manifest.ts';
import { Secrets } from '../../tools/secrets.ts';
import { openToolbox } from '../../tools/toolbox/open-toolbox.ts';
import { type Finding, failed, notChecked, ok } from './finding.ts';

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
    return loaded.manifest.tools.flatMap(({ name, kind }): Finding[] => {
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
  } finally {
    await toolbox.close();
  }
}
