import { readProxy } from '../../tools/http/proxy.ts';
import type { ToolDeclaration } from '../../tools/manifest/manifest.ts';
import { describeUnknownTool } from '../../tools/manifest/problem.ts';
import { parseLock, readLockText, type ToolLock } from '../../tools/manifest/tool-lock.ts';
import { Secrets } from '../../tools/secrets.ts';
import { type OpenToolbox, openToolbox } from '../../tools/toolbox/open-toolbox.ts';
import { Failure } from './command.ts';
import { requireManifest } from './load-manifest.ts';

/** Opens the tools of a manifest for one command and closes them afterwards, also after an error. */
export async function withToolbox<Result>(
  file: string,
  environment: NodeJS.ProcessEnv,
  work: (toolbox: OpenToolbox) => Promise<Result>,
  {
    withoutSecrets,
    areServersLocked = false,
  }: {
    readonly withoutSecrets?: boolean | undefined;
    /** Whether the lock file tells the tools of servers, so that none is started. */
    readonly areServersLocked?: boolean;
  } = {},
): Promise<Result> {
  const {
    manifest: declared,
    folder,
    secrets: hidden,
  } = await requireManifest(file, environment, {
    withoutSecrets,
  });
  const lock = areServersLocked ? parseLock(await readLockText(folder)) : undefined;
  const manifest =
    lock === undefined
      ? declared
      : { ...declared, tools: declared.tools.flatMap((tool) => lockedTools(tool, lock)) };
  const secrets = new Secrets();
  for (const value of hidden) secrets.add(value);
  const log = { info: () => {}, warn: () => {} };
  const toolbox = await openToolbox(manifest, { folder, secrets, log, proxy: readProxy(environment) });
  try {
    return await work(toolbox);
  } finally {
    await toolbox.close();
  }
}

/**
 * Returns the tools of a locked server as tools with the same rules that take any input. The hints of a server are not in the lock file, so one
 * whose hints are trusted is left as it is.
 */
function lockedTools(declaration: ToolDeclaration, lock: ToolLock): ToolDeclaration[] {
  if (declaration.kind !== 'mcp' || declaration.trustHints) return [declaration];
  const { approval, effect, maxAttempts, allow, maxOutput, images, answers, asWritten } = declaration;
  // The parts of its texts that rules can see.
  const cards = declaration.cards.map(({ match, target, undo, reversible }) => ({
    match,
    target,
    undo,
    reversible,
  }));
  return lock.toolsOf(declaration.name).map((name) => ({
    name,
    approval,
    effect,
    maxAttempts,
    allow,
    maxOutput,
    images,
    answers,
    asWritten,
    cards,
    kind: 'http',
    definition: {
      name,
      description: name,
      inputSchema: { type: 'object' },
      method: 'POST',
      url: 'https://locked.invalid/',
    },
  }));
}

/** Makes the error about a tool that the manifest does not have. */
export function unknownTool(toolbox: Pick<OpenToolbox, 'tools' | 'problems'>, name: string): Failure {
  const known = toolbox.tools().map((tool) => tool.name);
  const missing = toolbox.problems().map((problem) => `\n  not loaded: ${problem.split('\n')[0]}`);
  return new Failure(`${describeUnknownTool(name, known)}${missing.join('')}`);
}
