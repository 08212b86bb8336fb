import { hash } from 'node:crypto';
import { resolve } from 'node:path';
import { describeError } from '../../agent/errors.ts';
import type { Tool } from '../../agent/tool.ts';
import { withTimeout } from '../../agent/util/abort.ts';
import { guardedFetch } from '../http/guard/guarded-fetch.ts';
import { httpTool } from '../http/http-tool.ts';
import type { ProxySettings } from '../http/proxy.ts';
import type { McpDeclaration, ToolDeclaration } from '../manifest/manifest.ts';
import type { Accounts } from '../mcp/auth/ask-for-consent.ts';
import type { Connections, RequesterServer } from '../mcp/auth/connections.ts';
import type { McpHints } from '../mcp/build-tools.ts';
import type { FirstSeen, McpConfig, McpLog } from '../mcp/mcp-config.ts';
import type { McpDescription } from '../mcp/open-mcp-server.ts';
import type { Secrets } from '../secrets.ts';
import type { LoadModule, ModuleFiles } from './load-module.ts';

/** One entry of the manifest, opened: a module, a tool from code, an HTTP call or an MCP server. */
export interface ToolSource {
  readonly declaration: ToolDeclaration;
  /** The files of a module as they were when it was last loaded, or could not be. */
  readonly files?: ModuleFiles | undefined;
  tools(): readonly Tool[];
  /** Returns a server's hints about its own tool; they are trusted only where the manifest says so. */
  hintsOf(name: string): McpHints | undefined;
  /** Returns the digest of the module and what it imports, the version of the program, or the digest of the server's definition of the tool. */
  digestOf(name: string): string | undefined;
  /** Tells whether a server's tool is new or has changed since its server was first listed. */
  hasChanged(name: string): boolean;
  /** Lists a server's tools again. */
  relist(): Promise<void>;
  /** Returns the reasons why tools are missing, for the log and for `doctor`. */
  problems(): readonly string[];
  describe(): McpDescription | undefined;
  /** The server, if its calls run in the name of their requesters. */
  readonly requester?: RequesterServer | undefined;
  /** The accounts of its requesters, which a call looks at before it runs. */
  readonly accounts?: Accounts | undefined;
  close(): Promise<void>;
}

/** The tools that a program gives to the bot, by name, and its version, which approvals are bound to. */
export interface CodeTools {
  readonly tools: ReadonlyMap<string, Tool>;
  readonly version?: string | undefined;
}

export interface SourceOptions {
  readonly folder: string;
  readonly loadModule: LoadModule;
  /** The tools of the program; a command has none. */
  readonly code?: CodeTools | undefined;
  /** The files of the module. */
  readonly files?: ModuleFiles | undefined;
  /** The same module before its files changed; its tools stay if the files cannot be loaded now. */
  readonly former?: ToolSource | undefined;
  readonly secrets: Secrets;
  readonly log: McpLog;
  readonly proxy?: ProxySettings | undefined;
  /** The accounts that people have connected; only a running bot knows them. */
  readonly connections?: Connections | undefined;
  /** Keeps what each server listed first, by its name and address; without it a restart forgets it. */
  readonly firstSeen?:
    | ((server: string, ...listed: Parameters<FirstSeen>) => ReturnType<FirstSeen>)
    | undefined;
  /** Called when a server's list has changed. */
  readonly onChange: () => void;
}

/** Opens one entry of the manifest. An entry that cannot be opened becomes a source without tools and with a problem. */
export async function openSource(declaration: ToolDeclaration, options: SourceOptions): Promise<ToolSource> {
  switch (declaration.kind) {
    case 'module':
      return fixedSource(declaration, () => options.loadModule(declaration.module), options);
    case 'code':
      return fixedSource(declaration, async () => [findInCode(declaration.name, options.code)], {
        files: options.code?.version === undefined ? undefined : { digest: options.code.version, paths: [] },
      });
    case 'http':
      return fixedSource(declaration, async () => [
        httpTool({
          ...declaration.definition,
          redact: (text) => options.secrets.redact(text),
          proxy: options.proxy,
          onToken: (token) => options.secrets.add(token),
        }),
      ]);
    case 'mcp': {
      const { log, onChange, firstSeen } = options;
      const [{ createIdentities }, { openMcpServer }] = await Promise.all([
        import('../mcp/auth/create-identities.ts'),
        import('../mcp/open-mcp-server.ts'),
      ]);
      const fetch = guardedFetch({ allowPrivate: declaration.allowPrivate, proxy: options.proxy });
      const { requester, accounts, ...identities } = createIdentities(declaration, {
        ...options,
        fetch,
      });
      const server = openMcpServer(inFolder(declaration.config, options.folder), {
        name: declaration.name,
        log,
        onChange,
        guardedFetch: fetch,
        firstSeen: firstSeen && ((listed) => firstSeen(addressOf(declaration), listed)),
        ...identities,
      });
      await server.ready;
      return {
        declaration,
        tools: () => server.tools(),
        hintsOf: (name) => server.hintsOf(name),
        digestOf: (name) => server.digestOf(name),
        hasChanged: (name) => server.hasChanged(name),
        relist: () => server.relist(),
        problems: () =>
          server.problems().map(({ tool, problem }) => `${declaration.name}: ${tool}: ${problem}`),
        describe: () => server.describe(),
        requester,
        accounts,
        close: () => server.close(),
      };
    }
  }
}

function findInCode(name: string, code: CodeTools | undefined): Tool {
  const tool = code?.tools.get(name);
  if (tool === undefined) throw new Error(missingInCode(name));
  return tool;
}

/** Describes an entry for a tool that the program does not have. */
export function missingInCode(name: string): string {
  return `the program gives the bot no tool named "${name}"; add it to "tools" of createBot, or remove the entry`;
}

/** Names a server by its entry and where it is: another command or URL is another server. */
function addressOf({ name, config }: McpDeclaration): string {
  const where = config.transport === 'http' ? [config.url] : [config.command, ...config.args];
  return `${name} ${hash('sha256', JSON.stringify(where))}`;
}

/** Resolves a server's working folder from the manifest's folder, wherever the bot was started. */
function inFolder(config: McpConfig, folder: string): McpConfig {
  return config.transport === 'http' ? config : { ...config, cwd: resolve(folder, config.cwd ?? '.') };
}

/** The longest time that a module may take to load. */
const LONGEST_LOAD_MS = 30_000;

/** Loads the tools of a source that is no server. One that worked before its files changed keeps its tools while they have errors. */
async function fixedSource(
  declaration: ToolDeclaration,
  load: () => Promise<readonly Tool[]>,
  { files, former }: Pick<SourceOptions, 'files' | 'former'> = {},
): Promise<ToolSource> {
  let tools: readonly Tool[] = former?.tools() ?? [];
  let digestOf: ToolSource['digestOf'] = former?.digestOf ?? (() => undefined);
  let problems: readonly string[] = [];
  try {
    const loaded = await withTimeout(load(), LONGEST_LOAD_MS);
    if (loaded === undefined) throw new Error(`it did not load within ${LONGEST_LOAD_MS / 1000} seconds`);
    tools = loaded;
    digestOf = () => files?.digest;
  } catch (error) {
    const kept = tools.length === 0 ? '' : 'its files have errors; the previous version stays active: ';
    problems = [`${declaration.name}: ${kept}${describeError(error)}`];
  }
  return {
    declaration,
    files,
    tools: () => tools,
    hintsOf: () => undefined,
    digestOf,
    hasChanged: () => false,
    relist: async () => {},
    problems: () => problems,
    describe: () => undefined,
    close: async () => {},
  };
}
