import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { pointerTo } from '../../agent/util/json-pointer.ts';
import { matchesGlob } from '../../tools/gate/approval-rules.ts';
import { AllowedHosts } from '../../tools/http/guard/allowed-hosts.ts';
import { targetOf } from '../../tools/http/guard/guarded-connector.ts';
import { readProxy } from '../../tools/http/proxy.ts';
import { unknownInputNames } from '../../tools/manifest/checks/condition-names.ts';
import type { ToolDeclaration } from '../../tools/manifest/manifest.ts';
import { ONLY_BOT } from '../../tools/mcp/auth/person/create-identities.ts';
import { Secrets } from '../../tools/secrets.ts';
import { type OpenToolbox, openToolbox } from '../../tools/toolbox/open-toolbox.ts';
import { LOCK_FILE } from '../../tools/toolbox/tool-lock.ts';
import { type Finding, failed, notChecked, ok, warning } from './finding.ts';
import { addressOf, blockedHost } from './inspect-manifest.ts';
import { type LoadedManifest, type PlacedProblem, toFinding } from './manifest-view.ts';

/**
 * Loads every module and connects to every MCP server of the manifest, as a start would, then closes them. It compares the rules with
 * the tools that came of it, and resolves the hosts of HTTP tools.
 */
export async function checkTools(
  loaded: LoadedManifest | undefined,
  environment: NodeJS.ProcessEnv,
): Promise<Finding[]> {
  if (loaded === undefined) return [notChecked('tools', 'there is no valid manifest to read them from')];
  const secrets = new Secrets();
  for (const secret of loaded.secrets) secrets.add(secret);
  const log = { info: () => {}, warn: () => {} };
  const { manifest, folder } = loaded;
  const proxy = readProxy(environment);
  const toolbox = await openToolbox(manifest, { folder, secrets, log, proxy });
  try {
    const checked = manifest.tools.map(async (tool): Promise<Finding[]> => {
      const check = `tool ${tool.name}`;
      const hosts = proxy === undefined ? await checkHost(tool) : [];
      const placed = [...hosts, ...checkAgainstRules(tool, toolbox)].map((found) =>
        toFinding(check, found, loaded),
      );
      const opened = describeSource(tool, toolbox, loaded, secrets);
      const isFine = [...opened, ...placed].every(({ status }) => status !== 'failed');
      return [...opened.filter(({ status }) => status !== 'ok' || isFine), ...placed];
    });
    const found = (await Promise.all(checked)).flat();
    return toolbox.servers().length === 0 ? found : [...found, checkLock(toolbox)];
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
  if (count > 0)
    return failed(
      check,
      count === 1
        ? '1 tool definition differs from the lock file, so the tool is disabled'
        : `${count} tool definitions differ from the lock file, so the tools are disabled`,
      { fix: `review ${count === 1 ? 'it' : 'them'} and run "countersign manifest lock"` },
    );
  const { length } = definitions();
  return ok(
    check,
    length === 1 ? 'the definition matches the lock file' : `all ${length} definitions match the lock file`,
  );
}

function describeSource(
  { name, kind }: ToolDeclaration,
  toolbox: OpenToolbox,
  { locate, folder }: LoadedManifest,
  secrets: Secrets,
): Finding[] {
  const check = `tool ${name}`;
  const { message: _none, ...place } = locate({ pointer: pointerTo('/tools', name), at: 'key', message: '' });
  const found = toolbox
    .problems()
    .filter((problem) => problem.startsWith(`${name}: `))
    .map((problem) => {
      const message = secrets.redact(problem.slice(name.length + 2));
      return failed(check, message, { place, fix: fixFor(message, folder) });
    });
  const server = toolbox.servers().find((opened) => opened.name === name);
  if (server === undefined) return found.length > 0 ? found : [ok(check, `${kind}, loaded`)];
  if (server.state === 'connected')
    return [ok(check, `${server.peer ?? 'an MCP server'}, tools: ${server.tools.length}`), ...found];
  const why = secrets.redact(server.lastError ?? 'it did not start');
  // Its tools are listed with the account of a person, which only the running bot knows; its metadata is a check of its own.
  if (toolbox.requesterServers().some((requester) => requester.name === name) && why.includes(ONLY_BOT))
    return [warning(check, 'its tools are listed for people who have connected only'), ...found];
  return [failed(check, why, { place, fix: 'check its command or url' }), ...found];
}

function fixFor(message: string, folder: string): string | undefined {
  const [, missing] = /Cannot find (?:package|module) '([^']+)'/.exec(message) ?? [];
  if (missing === undefined || /^[./]/.test(missing)) return undefined;
  return `run "npm install ${missing}" in ${folder}`;
}

/** Compares the rules of an entry with the tools that it has: names in conditions, patterns that match nothing, another name. */
function checkAgainstRules(declaration: ToolDeclaration, toolbox: OpenToolbox): PlacedProblem[] {
  const tools = toolbox.toolsOf(declaration.name);
  // What could not be loaded is a finding already, and the tool of an HTTP call is the manifest's own.
  if (tools.length === 0 || declaration.kind === 'http') return [];
  const pointer = pointerTo('/tools', declaration.name);
  const names = tools.map(({ name }) => name);
  return [
    ...declaration.approval.flatMap(({ when, match = '*' }, index): PlacedProblem[] => {
      const own = tools.filter(({ name }) => matchesGlob(match, name));
      const rule = `${pointer}/approval${declaration.approval.length > 1 ? `/${index}` : ''}`;
      if (own.length === 0) {
        const message = `this rule is never used: "${match}" matches none of ${names.join(', ')}`;
        return [{ pointer: `${rule}/match`, severity: 'error', message, fix: 'correct the pattern' }];
      }
      const unknown = own.flatMap((tool) =>
        when === undefined ? [] : unknownInputNames(when, tool.inputSchema.jsonSchema),
      );
      // A name that one of several tools has is no mistake.
      return unknown.length < own.length
        ? []
        : unknown.slice(0, 1).map((problem) => ({
            pointer: `${rule}/when`,
            severity: 'error',
            fix: 'correct the name; as it is, every call needs approval',
            ...problem,
          }));
    }),
    ...(declaration.kind === 'module' && !names.includes(declaration.name)
      ? [
          {
            pointer: `${pointer}/module`,
            severity: 'warning',
            message: `the module exports ${names.join(', ')} and no tool named ${declaration.name}`,
            fix: `name the entry ${names[0]}, which is what the model and the audit log call it`,
          } as const,
        ]
      : []),
  ];
}

/** Resolves the host of a tool, and refuses what the guard would refuse at every call. */
async function checkHost(tool: ToolDeclaration): Promise<PlacedProblem[]> {
  const called = addressOf(tool);
  if (called === undefined || !URL.canParse(called.address)) return [];
  const target = targetOf(new URL(called.address));
  const host = target.host.replace(/^\[(.*)\]$/, '$1');
  const pointer = `${called.pointer}/url`;
  const allowed = new AllowedHosts(called.allowPrivate);
  try {
    allowed.checkName(target);
  } catch {
    // The check of the manifest has said so.
    return [];
  }
  if (isIP(host) !== 0) return [];
  const answers = await lookup(host, { all: true }).catch(() => []);
  if (answers.length === 0) {
    const message = `"${host}" cannot be resolved from here`;
    return [{ pointer, severity: 'error', message, fix: 'correct the host, or check DNS' }];
  }
  try {
    for (const { address } of answers) allowed.checkAddress(target, address);
    return [];
  } catch {
    return [blockedHost(pointer, host)];
  }
}
