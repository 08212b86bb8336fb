import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { ROOT, readDocuments } from '../test/deploy/files.ts';
import { count, newTally, type Suite } from './suite.ts';

const MODULES = fileURLToPath(new URL('node_modules', import.meta.url));
export const Resource = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string() }),
});
export type Resource = z.infer<typeof Resource>;
const Validator = z.object({ validate: z.custom<(value: unknown) => boolean>() });

/** Every resource of deploy/: its values by the schemas of Kubernetes, and its fields by the types that were made of them. */
export const kubernetes: Suite = {
  name: 'Kubernetes schemas, the resources in deploy/',
  source: '`kubernetes-models` 5.1.0',
  hole: 'a field of each resource is misspelled, or has the wrong type',
  async run({ isLoosened }) {
    const tally = newTally();
    const resources = readResources().map((resource) => (isLoosened ? misspell(resource) : resource));
    for (const [{ kind, metadata }, wrong] of await problemsOf(resources))
      count(tally, `${kind} ${metadata.name}`, wrong);
    return tally;
  },
};

/** Lists for each resource the values that its schema refuses, and the fields that its type does not have. */
export async function problemsOf(resources: readonly Resource[]): Promise<Map<Resource, string[]>> {
  const unknown = unknownFields(resources);
  const problems = new Map<Resource, string[]>();
  for (const [index, resource] of resources.entries())
    problems.set(resource, [...(await wrongValues(resource)), ...(unknown.get(index) ?? [])]);
  return problems;
}

/** Reads the resources of deploy/kubernetes, and the secrets that they need. */
export function readResources(): Resource[] {
  const files = readdirSync(join(ROOT, 'deploy/kubernetes')).map((file) => `deploy/kubernetes/${file}`);
  return [...files, 'deploy/secret.example.yml'].flatMap((file) =>
    readDocuments(file).map((document) => Resource.parse(document)),
  );
}

function misspell({ spec, stringData, ...resource }: Resource): Resource {
  const specs = typeof spec === 'object' && spec !== null ? { spec: { ...spec, replica: 'two' } } : {};
  return { ...resource, ...specs, ...(stringData !== undefined && { stringDatum: stringData }) };
}

async function wrongValues(resource: Resource): Promise<string[]> {
  const { validate } = Validator.parse(
    await import(join(MODULES, 'kubernetes-models', `${schemaOf(resource)}.js`)),
  );
  if (validate(resource)) return [];
  const errors = Object(validate).errors;
  return [JSON.stringify(errors)];
}

function schemaOf({ apiVersion, kind }: Resource): string {
  const [version = '', group = 'core'] = apiVersion.split('/').reverse();
  const name = (part: string) => `${part.charAt(0).toUpperCase()}${part.slice(1)}`;
  return `_schemas/IoK8sApi${name(group.split('.')[0] ?? '')}${name(version)}${kind}`;
}

/** Compiles the resources against the types of Kubernetes, which know every field. */
function unknownFields(resources: readonly Resource[]): Map<number, string[]> {
  const folder = mkdtempSync(join(MODULES, '.countersign-'));
  const lines = resources.map((resource, index) => {
    const path = `kubernetes-models/${resource.apiVersion}`;
    const value = JSON.stringify(resource);
    return `import type { I${resource.kind} as T${index} } from '${path}'; export const r${index}: T${index} = ${value};`;
  });
  const found = new Map<number, string[]>();
  try {
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    writeFileSync(join(folder, 'resources.ts'), lines.join('\n'));
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
    const options = [
      '--noEmit',
      '--strict',
      '--skipLibCheck',
      '--module',
      'nodenext',
      '--types',
      '',
      '--ignoreConfig',
    ];
    execFileSync(process.execPath, [tsc, ...options, 'resources.ts'], {
      cwd: folder,
      stdio: 'pipe',
      encoding: 'utf8',
    });
  } catch (error) {
    const output = String(Object(error).stdout ?? error);
    for (const [, line = '0', message = ''] of output.matchAll(/resources\.ts[(:](\d+).*?error (.*)/g)) {
      const index = Number(line) - 1;
      found.set(index, [...(found.get(index) ?? []), message]);
    }
    if (found.size === 0) throw new Error(`the resources could not be compiled: ${output}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return found;
}
