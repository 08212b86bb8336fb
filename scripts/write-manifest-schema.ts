import { writeFileSync } from 'node:fs';
import { manifestJsonSchema } from '../src/tools/manifest/schema/manifest-file.ts';
import { referencePages } from './reference-pages.ts';

// Editors read the schema beside the manifest; run this after a change of the manifest's schema, a setting, a metric or a command.
const file = new URL('../manifest.schema.json', import.meta.url);
writeFileSync(file, `${JSON.stringify(manifestJsonSchema(), null, 2)}\n`);
for (const [name, page] of await referencePages())
  writeFileSync(new URL(`../docs/${name}`, import.meta.url), page);
