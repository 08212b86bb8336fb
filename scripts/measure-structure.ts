import { fileURLToPath } from 'node:url';
import { measureStructure } from '../test/support/structure.ts';

/**
 * Prints how many concepts the source has: verbs, scripts, key kinds, documents, manifest keys, long functions, folders that import
 * each other, lines. `-- --details` names them; `npm run structure -- DIR` measures another checkout.
 */
const args = process.argv.slice(2);
const root = args.find((arg) => !arg.startsWith('--')) ?? fileURLToPath(new URL('..', import.meta.url));
const isDetailed = args.includes('--details');
for (const { name, value, details } of measureStructure(root)) {
  const isNamed = isDetailed || name.startsWith('functions over');
  process.stdout.write(`| ${name} | ${value} |\n`);
  if (isNamed) for (const detail of details) process.stdout.write(`    ${detail}\n`);
}
