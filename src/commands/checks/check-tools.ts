import { lookup } from 'node:dns/promises';
import { connect, isIP } from 'node:net';
import { pointerTo, segmentsOf } from '../../agent/json.ts';
import { AllowedHosts } from '../../tools/http/guard/allowed-hosts.ts';
import { targetOf } from '../../tools/http/guard/guarded-connector.ts';
import { proxiedFetch, readProxy } from '../../tools/http/proxy.ts';
import { checkUses, knownTool } from '../../tools/manifest/checks/check-uses.ts';
import type { ToolDeclaration } from '../../tools/manifest/manifest.ts';
import { LOCK_FILE } from '../../tools/manifest/tool-lock.ts';
import { ONLY_BOT } from '../../tools/mcp/auth/create-identities.ts';
import { Secrets } from '../../tools/secrets.ts';
import { type OpenToolbox, openToolbox } from '../../tools/toolbox/open-toolbox.ts';
import { type Finding, failed, notChecked, ok, warning } from './finding.ts';
import {
  addressOf,
  blockedHost,
  type LoadedManifest,
  type PlacedProblem,
  toFinding,
} from './inspect-manifest.ts';
import { fixForImport } from './inspect-uses.ts';

/** The time in which a host must answer. */
const ANSWER_TIMEOUT_MS = 3_000;

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
    const uses = checkAgainstTools(loaded, toolbox);
    const checked = manifest.tools.map(async (tool): Promise<Finding[]> => {
      const check = `tool ${tool.name}`;
      const hosts = proxy === undefined ? await checkHost(tool) : [];
      const placed = [
        ...[...hosts, ...checkName(tool, toolbox)].map((found) => toFinding(check, found, loaded)),
        ...uses
          .filter(({ entry }) => entry === tool.name)
          .map(({ message, place }) => failed(check, message, { place })),
      ];
      const opened = await describeSource(tool, toolbox, loaded, { secrets, proxy });
      const isFine = [...opened, ...placed].every(({ status }) => status !== 'failed');
      return [...opened.filter(({ status }) => status !== 'ok' || isFine), ...placed];
    });
    const others = uses
      .filter(({ entry }) => !manifest.tools.some(({ name }) => name === entry))
      .map(({ message, place }) => failed('manifest', message, { place }));
    const found = [...others, ...(await Promise.all(checked)).flat()];
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

async function describeSource(
  declaration: ToolDeclaration,
  toolbox: OpenToolbox,
  { locate, folder }: LoadedManifest,
  { secrets, proxy }: { readonly secrets: Secrets; readonly proxy: ReturnType<typeof readProxy> },
): Promise<Finding[]> {
  const { name, kind } = declaration;
  const check = `tool ${name}`;
  if (kind === 'code') return [notChecked(check, 'only the program that starts the bot has it')];
  const { message: _none, ...place } = locate({ pointer: pointerTo('/tools', name), at: 'key', message: '' });
  const found = toolbox
    .problems()
    .filter((problem) => problem.startsWith(`${name}: `))
    .map((problem) => {
      const message = secrets.redact(problem.slice(name.length + 2));
      return failed(check, message, { place, fix: fixForImport(message, folder) });
    });
  const server = toolbox.servers().find((opened) => opened.name === name);
  if (server === undefined) return found.length > 0 ? found : [ok(check, `${kind}, loaded`)];
  if (server.state === 'connected')
    return [ok(check, `${server.peer ?? 'an MCP server'}, tools: ${server.tools.length}`), ...found];
  const why = secrets.redact(server.lastError ?? 'it did not start');
  // Its tools are listed with the account of a person, which only the running bot knows; its metadata is a check of its own.
  if (toolbox.requesterServers().some((requester) => requester.name === name) && why.includes(ONLY_BOT))
    return [warning(check, 'its tools are listed for people who have connected only'), ...found];
  const status = await statusOf(declaration, proxy);
  if (status === 401 || status === 403) {
    const fix = 'check its headers or auth: the token may be wrong, expired or missing';
    return [failed(check, `the server refuses the bot (${status})`, { place, fix }), ...found];
  }
  return [failed(check, why, { place, fix: 'check its command or url, and that it runs' }), ...found];
}

/** Returns the status with which a remote server answers; `undefined` if it does not, or if it wants a token that is fetched first. */
async function statusOf(
  declaration: ToolDeclaration,
  proxy: ReturnType<typeof readProxy>,
): Promise<number | undefined> {
  if (declaration.kind !== 'mcp' || declaration.config.transport !== 'http') return undefined;
  const { url, headers, auth } = declaration.config;
  if (auth !== undefined) return undefined;
  return proxiedFetch(proxy)(url, {
    headers: { accept: 'text/event-stream', ...headers },
    redirect: 'manual',
    signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
  }).then(
    async ({ status, body }) => {
      await body?.cancel();
      return status;
    },
    () => undefined,
  );
}

/** Compares the manifest with the tools that came of it; what could not be loaded is a finding already. */
function checkAgainstTools({ manifest, written, locate }: LoadedManifest, toolbox: OpenToolbox) {
  const opened = manifest.tools.flatMap(({ name }) => {
    const tools = toolbox.toolsOf(name);
    const known = tools.map(knownTool);
    return known.length === 0 ? [] : [[name, known] as const];
  });
  return checkUses(written, new Map(opened)).findings.map((finding) => {
    const { message, ...place } = locate(finding);
    const [, section, entry = ''] = ['', ...segmentsOf(finding.pointer)];
    return { entry: section === 'tools' ? entry : '', message, place };
  });
}

/** Finds an entry of another name than its tool. */
function checkName({ name, kind }: ToolDeclaration, toolbox: OpenToolbox): PlacedProblem[] {
  const names = toolbox.toolsOf(name).map((tool) => tool.name);
  if (kind !== 'module' || names.length === 0 || names.includes(name)) return [];
  return [
    {
      pointer: `${pointerTo('/tools', name)}/module`,
      severity: 'warning',
      message: `the module exports ${names.join(', ')} and no tool named ${name}`,
      fix: `name the entry ${names[0]}, which is what the model and the audit log call it`,
    },
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
  if (isIP(host) !== 0) return checkPort(tool, pointer, target);
  const answers = await lookup(host, { all: true }).catch(() => []);
  if (answers.length === 0) {
    const message = `"${host}" cannot be resolved from here`;
    return [{ pointer, severity: 'error', message, fix: 'correct the host, or check DNS' }];
  }
  try {
    for (const { address } of answers) allowed.checkAddress(target, address);
  } catch {
    return [blockedHost(pointer, host)];
  }
  return checkPort(tool, pointer, target);
}

/** Finds an HTTP tool whose port is closed; a server is connected to anyway. */
async function checkPort(
  { kind }: ToolDeclaration,
  pointer: string,
  { host, port }: ReturnType<typeof targetOf>,
): Promise<PlacedProblem[]> {
  if (kind !== 'http') return [];
  const socket = connect({ host: host.replace(/^\[(.*)\]$/, '$1'), port, timeout: ANSWER_TIMEOUT_MS });
  const isOpen = await new Promise<boolean>((resolve) => {
    socket.once('connect', () => resolve(true));
    socket.once('error', () => resolve(false));
    socket.once('timeout', () => resolve(false));
  });
  socket.destroy();
  if (isOpen) return [];
  const message = `${host}:${port} does not answer`;
  return [{ pointer, severity: 'error', message, fix: 'start it, or correct the address' }];
}
