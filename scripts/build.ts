import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, type Metafile } from 'esbuild';
import { build as buildWeb } from 'vite';
import { licencesOf } from './third-party-licences.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/**
 * Bundles the bot, the command line and the library with their dependencies into a few files: production reads those
 * in half the time and two thirds of the memory of a thousand small ones. What the three share is loaded once, so an
 * error marked by a tool that imports `countersign` is recognized by the bot. Tests bundle programs of theirs beside them, and
 * the bench has a source map, so that a profile can name packages.
 */
export async function bundle(
  outdir: string,
  programs: readonly string[] = [],
  { sourcemap = false }: { readonly sourcemap?: boolean } = {},
): Promise<Metafile> {
  rmSync(outdir, { recursive: true, force: true });
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: [
      'src/main.ts',
      'src/cli.ts',
      'src/index.ts',
      'src/client.ts',
      'src/testing.ts',
      'src/engine/turns/files/extract-file.ts',
      ...programs,
    ],
    outdir,
    // All in one folder below `outdir`, as deep as src/commands and src/store/redis are below what they read.
    entryNames: 'bin/[name]',
    chunkNames: 'bin/[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    // It finds files of its own beside itself, and is loaded only for tools written in TypeScript.
    external: ['tsx', 'sharp'],
    banner: {
      js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
    },
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'none',
    logLevel: 'warning',
    // Without a comment in the files, so that they stay the same.
    ...(sourcemap && { sourcemap: 'external' as const, sourcesContent: false }),
    metafile: true,
  });
  writeFileSync(join(outdir, 'THIRD_PARTY_LICENSES'), licencesOf(ROOT, Object.keys(metafile.inputs)));
  cpSync(join(ROOT, 'src/store/lua'), join(outdir, 'lua'), { recursive: true });
  await buildPage(join(outdir, 'page/web/dist'));
  return metafile;
}

/** Builds the browser part of the page, with the licences of what went into it. */
export async function buildPage(outDir: string): Promise<void> {
  const built = await buildWeb({
    configFile: join(ROOT, 'src/page/web/vite.config.ts'),
    logLevel: 'warn',
    build: { outDir, emptyOutDir: true },
  });
  const outputs = Array.isArray(built) ? built : [built];
  const inputs = outputs
    .flatMap((each) => ('output' in each ? each.output : []))
    .flatMap((file) => (file.type === 'chunk' ? Object.keys(file.modules) : []))
    // Beside the files there are modules that the bundler made of them.
    .filter((path) => !path.startsWith('\0'))
    .map((path) => relative(ROOT, path));
  writeFileSync(join(outDir, 'THIRD_PARTY_LICENSES'), licencesOf(ROOT, inputs));
}

/** Builds what the npm package has in `dist`: the modules one by one, whose libraries npm installs, and the types of the library. */
export async function buildPackage(outdir: string): Promise<void> {
  rmSync(outdir, { recursive: true, force: true });
  compile(['--outDir', join(outdir, 'bin')]);
  cpSync(join(ROOT, 'src/store/lua'), join(outdir, 'bin/store/lua'), { recursive: true });
  await buildPage(join(outdir, 'bin/page/web/dist'));
  writeTypes(outdir);
}

/** The entries of the package, as package.json names them. */
const ENTRIES = ['index', 'client', 'testing'];

/** Writes the types that a user can reach from the entries of the package, and no others. */
export function writeTypes(outdir: string): void {
  const types = join(outdir, 'types');
  compile(['--outDir', types, '--declaration', '--emitDeclarationOnly']);
  const reached = new Set<string>();
  const follow = (path: string): void => {
    if (reached.has(path)) return;
    reached.add(path);
    for (const [, target = ''] of readFileSync(path, 'utf8').matchAll(
      /(?:from |import\()['"](\.[^'"]+)['"]/g,
    ))
      follow(join(dirname(path), target.replace(/\.[jt]s$/, '.d.ts')));
  };
  for (const entry of ENTRIES) follow(join(types, `${entry}.d.ts`));
  keepOnly(reached, types);
}

/** Removes every other file, and the folders that are empty then. */
function keepOnly(files: ReadonlySet<string>, folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) keepOnly(files, path);
    else if (!files.has(path)) rmSync(path);
  }
  if (readdirSync(folder).length === 0) rmSync(folder, { recursive: true });
}

function compile(flags: readonly string[]): void {
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  execFileSync(process.execPath, [tsc, '-p', 'tsconfig.build.json', ...flags], {
    cwd: ROOT,
    stdio: 'inherit',
  });
}

/** The files of an older build stay so long for a bot that runs from them and may load more of them. */
const KEPT_MS = 86_400_000;

/** Puts a new build in the place of an older one, file by file, so that a running bot finds all of its own at any time. */
export function replaceBuild(made: string, outdir: string): void {
  const list = (folder: string): string[] =>
    readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) =>
      entry.isFile() ? [relative(folder, join(entry.parentPath, entry.name))] : [],
    );
  mkdirSync(outdir, { recursive: true });
  const files = list(made);
  for (const name of files) {
    mkdirSync(dirname(join(outdir, name)), { recursive: true });
    renameSync(join(made, name), join(outdir, name));
  }
  rmSync(made, { recursive: true });
  for (const name of list(outdir).filter((each) => !files.includes(each)))
    if (statSync(join(outdir, name)).mtimeMs < Date.now() - KEPT_MS) rmSync(join(outdir, name));
}

if (import.meta.url === pathToFileURL(resolve(process.argv[1] ?? '')).href) {
  const outdir = join(ROOT, 'dist');
  const made = join(ROOT, `dist.new-${process.pid}`);
  if (process.argv.includes('--package')) {
    await buildPackage(made);
    // npm puts it back when it has packed (scripts/prepare.mjs).
    const kept = join(ROOT, 'dist.kept');
    if (existsSync(outdir) && !existsSync(kept)) renameSync(outdir, kept);
    rmSync(outdir, { recursive: true, force: true });
    renameSync(made, outdir);
  } else {
    await bundle(made);
    writeTypes(made);
    replaceBuild(made, outdir);
  }
}
