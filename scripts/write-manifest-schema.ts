import { writeFileSync } from 'node:fs';
import { manifestJsonSchema } from '../src/tools/manifest/schema/manifest-file.ts';
import { manifestFields } from './manifest-fields.ts';

// Editors read the schema beside the manifest; run this after a change of src/tools/manifest/schema.
const file = new URL('../manifest.schema.json', import.meta.url);
writeFileSync(file, `${JSON.stringify(manifestJsonSchema(), null, 2)}\n`);
writeFileSync(new URL('../docs/manifest-fields.md', import.meta.url), manifestFields());
