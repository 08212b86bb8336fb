import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const WEB = fileURLToPath(new URL('../web/', import.meta.url));
const PROTOCOLS = ['../protocol.ts', '../record-protocol.ts'].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
);
const SOURCE = fileURLToPath(new URL('../../src/', import.meta.url));

export interface PageOptions {
  readonly log: (line: string) => void;
  /** The folder of the page's sources, in which `dist` is built. */
  readonly web?: string;
  /** Files elsewhere that the page is built from. */
  readonly others?: readonly string[];
}

/** Returns the folder of the built page; builds it when it is missing or older than its sources. */
export async function buildPage({ log, web = WEB, others = PROTOCOLS }: PageOptions): Promise<string> {
  const built = join(web, 'dist');
  const builtAt = await changedAt(join(built, 'index.html'));
  const sources = ['index.html', 'vite.config.ts', ...(await filesIn(join(web, 'src')))];
  const times = await Promise.all([...others, ...sources.map((name) => join(web, name))].map(changedAt));
  if (builtAt >= Math.max(...times) && builtAt > 0) return built;
  log(builtAt === 0 ? 'Building the page.' : 'Building the page, which has changed.');
  const { build } = await import('vite');
  await build({ configFile: join(web, 'vite.config.ts'), logLevel: 'silent' }).catch((error: unknown) => {
    throw new Error(
      `The page could not be built from ${web}; fix this and start again:\n${error instanceof Error ? error.message : String(error)}`,
    );
  });
  return built;
}

/** Builds the bot's own page likewise; it shares code with the bot, so any change of the source may be one of it. */
export async function buildBotPage({ log }: Pick<PageOptions, 'log'>): Promise<string> {
  const names = await readdir(SOURCE, { recursive: true });
  const others = names.filter((name) => name.endsWith('.ts')).map((name) => join(SOURCE, name));
  return await buildPage({ log, web: join(SOURCE, 'page/web'), others });
}

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true });
  return entries.map((name) => join('src', name));
}

/** 0 for what is not there. */
async function changedAt(path: string): Promise<number> {
  return await stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
}
