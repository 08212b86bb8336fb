import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { manifestJsonSchema } from '../src/tools/manifest/schema/manifest-file.ts';
import { writeTypes } from './build.ts';
import { contract, libraryTypes } from './contract.ts';
import { referencePages } from './reference-pages.ts';

// Editors read the schema beside the manifest; run this after a change of the manifest's schema, or of what docs/stability.md promises.
const file = new URL('../manifest.schema.json', import.meta.url);
writeFileSync(file, `${JSON.stringify(manifestJsonSchema(), null, 2)}\n`);
for (const [name, page] of await referencePages())
  writeFileSync(new URL(`../docs/${name}`, import.meta.url), page);
for (const [name, text] of await contract())
  writeFileSync(new URL(`../contract/${name}`, import.meta.url), text);
const types = mkdtempSync(join(tmpdir(), 'countersign-types-'));
writeTypes(types);
writeFileSync(new URL('../contract/library.txt', import.meta.url), libraryTypes(join(types, 'types')));
rmSync(types, { recursive: true });
