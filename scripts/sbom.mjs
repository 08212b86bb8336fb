import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** The packages that the browser part of the page has inside it; npm installs none of them in production. */
const IN_PAGE = ['@simplewebauthn/browser', 'react', 'react-dom', 'scheduler'];

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
    const sbom = JSON.parse(npm(folder, 'sbom', '--sbom-format=cyclonedx', '--sbom-type=application'));
    const { packages } = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8'));
    // npm takes the name of the folder.
    sbom.metadata.component.name = manifest.name;
    const inPage = IN_PAGE.map((name) => componentOf(name, packages[`node_modules/${name}`]));
    return JSON.stringify({ ...sbom, components: [...sbom.components, ...inPage] }, null, 2);
  } finally {
    writeFileSync(file, text);
  }
}

function componentOf(name, { version, license }) {
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  const licenses = [{ license: { id: license } }];
  return {
    'bom-ref': `${name}@${version}`,
    type: 'library',
    name,
    version,
    scope: 'required',
    purl,
    licenses,
  };
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
