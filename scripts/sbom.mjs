import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * Returns the SBOM of the packages in a folder into which `npm ci --omit=dev` has installed them. Beside development packages npm would
 * leave out what those need as well.
 */
export function sbomOf(folder) {
  const file = join(folder, 'package.json');
  const text = readFileSync(file, 'utf8');
  const { devDependencies: _others, ...manifest } = JSON.parse(text);
  writeFileSync(file, JSON.stringify(manifest));
  try {
    return npm(folder, 'sbom', '--sbom-format=cyclonedx', '--sbom-type=application');
  } finally {
    writeFileSync(file, text);
  }
}

function npm(folder, ...args) {
  const options = { cwd: folder, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 };
  return execFileSync('npm', args, { ...options, stdio: ['ignore', 'pipe', 'inherit'] });
}

// As a program: prints the SBOM of the package, from its lock file.
if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-sbom-'));
  try {
    for (const name of ['package.json', 'package-lock.json', '.npmrc'])
      copyFileSync(name, join(folder, name));
    npm(folder, 'ci', '--omit=dev', '--ignore-scripts', '--no-audit');
    process.stdout.write(sbomOf(folder));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
