import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

// The peers are large and only the bench needs them, so they are no part of the project's own installation.
const folder = fileURLToPath(new URL('.', import.meta.url));
if (!existsSync(`${folder}node_modules`)) execFileSync('npm', ['ci'], { cwd: folder, stdio: 'inherit' });
