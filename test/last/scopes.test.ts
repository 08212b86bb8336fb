import { readFileSync } from 'node:fs';
import { inject, test } from 'vitest';
import { parseManifest } from '../../src/tools/manifest/parse.ts';
import { expectScopes, readUse } from '../support/used-scopes.ts';

test('the shipped manifest lists exactly the scopes and events that the stories made use of', () => {
  const text = readFileSync(new URL('../../manifest.yml', import.meta.url), 'utf8');
  const parsed = parseManifest(text, { file: 'manifest.yml', environment: {} });
  if (!parsed.ok) throw new Error('The shipped manifest is not valid.');
  expectScopes(readUse(inject('usedScopes')), parsed.manifest.slack);
});
