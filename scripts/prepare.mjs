import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** What is built, and of what. npm prepares a clone again for every folder that depends on it, and for every npx in it. */
const BUILDS = [
  {
    script: 'build',
    made: 'dist/bin/cli.js',
    of: ['src', 'scripts/build.ts', 'tsconfig.build.json', 'tsconfig.json', 'package-lock.json'],
  },
  {
    script: 'build:page',
    made: 'playground/web/dist/index.html',
    of: ['playground/web', 'playground/protocol.ts', 'playground/record-protocol.ts', 'package-lock.json'],
  },
];

/** Returns the time of the latest change of a file, or of anything in a folder but what was built there. */
function changedAt(path) {
  const { mtimeMs } = statSync(path);
  if (!statSync(path).isDirectory()) return mtimeMs;
  const inside = readdirSync(path).filter((name) => name !== 'dist' && name !== 'node_modules');
  return Math.max(0, ...inside.map((name) => changedAt(join(path, name))));
}

function isStale({ made, of }) {
  try {
    const { mtimeMs } = statSync(made);
    return of.some((path) => changedAt(path) > mtimeMs);
  } catch {
    return true;
  }
}

/** What a clone runs from while npm packs: the package has other files, and a bot may be running. scripts/build.ts puts it there. */
const KEPT = 'dist.kept';

async function build() {
  // What is packed has the modules one by one; what is installed in a clone is the bundle.
  const isPacked = ['pack', 'publish'].includes(process.env.npm_command ?? '');
  const scripts = isPacked
    ? [['build', '--', '--package']]
    : BUILDS.filter(isStale).map(({ script }) => [script]);
  const builds = scripts.map((script) =>
    spawn('npm', ['run', '-s', ...script], { stdio: 'inherit', shell: process.platform === 'win32' }),
  );
  const codes = await Promise.all(builds.map(async (build) => (await once(build, 'close'))[0]));
  process.exitCode = codes.find((code) => code !== 0) ?? 0;
}

/** Puts back what the clone ran from before npm packed. */
function restore() {
  if (!existsSync(KEPT)) return;
  rmSync('dist', { recursive: true, force: true });
  renameSync(KEPT, 'dist');
}

// Installed from a registry there is nothing to build. npm runs this in a dry run too, where the tools it needs are not installed.
if (existsSync('src') && process.env.npm_config_dry_run !== 'true') {
  if (process.argv[2] === 'restore') restore();
  else await build();
}
