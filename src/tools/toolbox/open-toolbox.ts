import type { ProxySettings } from '../http/proxy.ts';
import type { Manifest } from '../manifest/manifest.ts';
import type { McpLog } from '../mcp/mcp-config.ts';
import type { McpDescription } from '../mcp/open-mcp-server.ts';
import type { Secrets } from '../secrets.ts';
import { describeApprovals } from './approval-notice.ts';
import { createModuleLoader } from './load-module.ts';
import { buildEntries, offeredEntries, type RuledEntry } from './tool-entries.ts';
import { openSource, type ToolSource } from './tool-source.ts';
import type { AroundRun, Place, Toolbox } from './toolbox.ts';

export interface ToolboxOptions {
  /** The folder that the manifest's paths start from. */
  readonly folder: string;
  readonly secrets: Secrets;
  readonly log: McpLog;
  /** The proxies of HTTP tools and remote MCP servers. */
  readonly proxy?: ProxySettings | undefined;
  /** Runs around every run of a tool. */
  readonly around?: AroundRun | undefined;
}

/** A toolbox whose manifest can be replaced while it is in use. */
export interface OpenToolbox extends Toolbox {
  readonly manifest: Manifest;
  /** Activates a new manifest; sources that it declares as before stay open. */
  replace(manifest: Manifest): Promise<void>;
  problems(): readonly string[];
  servers(): readonly McpDescription[];
}

/** Opens every source of the manifest. A source that cannot be opened is reported and does not affect the others. */
export async function openToolbox(first: Manifest, options: ToolboxOptions): Promise<OpenToolbox> {
  let manifest = first;
  let sources: readonly ToolSource[] = [];
  let entries: ReadonlyMap<string, RuledEntry> = new Map();
  let problems: readonly string[] = [];

  const rebuild = (): void => {
    const built = buildEntries(manifest, sources, options);
    for (const problem of built.problems.filter((found) => !problems.includes(found)))
      options.log.warn({}, problem);
    ({ entries, problems } = built);
  };
  const open = (declared: Manifest, current: readonly ToolSource[]): Promise<ToolSource[]> => {
    const loadModule = createModuleLoader(options.folder);
    return Promise.all(
      declared.tools.map(
        (declaration) =>
          current.find((source) => isSame(source.declaration, declaration)) ??
          openSource(declaration, { ...options, loadModule, onChange: rebuild }),
      ),
    );
  };
  const offered = (place: Place): RuledEntry[] => offeredEntries(entries.values(), place);

  sources = await open(first, []);
  rebuild();
  return {
    get manifest() {
      return manifest;
    },
    tools: () => [...entries.values()].map(({ tool }) => tool),
    toolsFor: (place) => offered(place).map(({ tool }) => tool),
    find: (name) => entries.get(name),
    policy: (name) => manifest.policies.get(name),
    notice: (place) => describeApprovals(offered(place), (name) => manifest.policies.get(name)),
    problems: () => problems,
    servers: () => sources.flatMap((source) => source.describe() ?? []),

    async replace(next) {
      const opened = await open(next, sources);
      const closing = sources.filter((source) => !opened.includes(source));
      manifest = next;
      sources = opened;
      rebuild();
      await Promise.all(closing.map((source) => source.close()));
    },

    async close() {
      await Promise.all(sources.map((source) => source.close()));
    },
  };
}

function isSame(left: object, right: object): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}
