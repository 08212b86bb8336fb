import { execSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { sbomOf } from './sbom.mjs';

// Prepares the packages of the image, after `npm ci --omit=dev`. The SBOM lists all of them. The bundle has most of them inside it; what it
// and the admin's tools load from outside stays, in the locked versions.
const OUTSIDE = ['tsx', 'zod'];

const { devDependencies: _others, ...manifest } = JSON.parse(readFileSync('package.json', 'utf8'));
writeFileSync('sbom.cdx.json', sbomOf('.'));

const kept = Object.entries(manifest.dependencies).filter(([name]) => OUTSIDE.includes(name));
writeFileSync('package.json', JSON.stringify({ ...manifest, dependencies: Object.fromEntries(kept) }));
execSync('npm prune --omit=dev --omit=peer --ignore-scripts --offline --no-audit', { stdio: 'inherit' });
