import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import type { GateResumed } from '../../../src/tools/gate.ts';
import type { Manifest } from '../../../src/tools/manifest/manifest.ts';
import { parseManifest } from '../../../src/tools/manifest/parse.ts';
import { formatProblem } from '../../../src/tools/manifest/problem.ts';
import { Secrets } from '../../../src/tools/secrets.ts';
import { type OpenToolbox, openToolbox } from '../../../src/tools/toolbox/open-toolbox.ts';
import { type DigestInput, requestDigest } from '../../../src/tools/toolbox/request-digest.ts';
import type { Action } from '../gate/support.ts';

export const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
export const APPROVED: GateResumed = { decision: 'approved', by: 'U0ALICE001', own: false, under: null };
const SLACK = 'slack: { display_information: { name: Countersign } }\n';
const POLICIES = `policies:
  default: { approvers: [S0APPROVE1] }
  finance: { approvers: [U0ALICE001, U0BRUNO002], quorum: 2 }
`;

/** A manifest with these tools (YAML, indented) and the policies "default" and "finance". */
export function manifestOf(tools: string, environment: Readonly<Record<string, string>> = {}): Manifest {
  const parsed = parseManifest(`${SLACK}${POLICIES}tools:\n${tools}`, { file: 'test.yml', environment });
  if (!parsed.ok) throw new Error(parsed.problems.map(formatProblem).join('\n'));
  return parsed.manifest;
}

/** Opens a toolbox that is closed when the test is over; what it complains of is in `warnings`. */
export async function openTools(
  manifest: Manifest,
  options: { readonly folder?: string; readonly secrets?: Secrets } = {},
): Promise<OpenToolbox & { readonly warnings: readonly string[] }> {
  const warnings: string[] = [];
  const log = { info: () => {}, warn: (_fields: object, message: string) => void warnings.push(message) };
  const { folder = ROOT, secrets = new Secrets() } = options;
  const toolbox = await openToolbox(manifest, { folder, secrets, log });
  onTestFinished(() => toolbox.close());
  return Object.assign(toolbox, { warnings });
}

/** A tool of the toolbox, behind its gate. */
export function actionIn(toolbox: OpenToolbox, name: string): Action {
  const tool = toolbox.find(name)?.tool;
  if (tool?.kind !== 'tool')
    throw new Error(`No action "${name}" among ${toolbox.tools().map((each) => each.name)}`);
  return tool;
}

/** The digest that a request for this tool would have, all else being equal. */
export function digestOf(
  toolbox: OpenToolbox,
  name: string,
  changes: Partial<Omit<DigestInput, 'entry'>> = {},
): string {
  const entry = toolbox.find(name);
  if (entry === undefined) throw new Error(`There is no tool "${name}"`);
  return requestDigest({
    entry,
    policy: toolbox.policy('default'),
    asked: { policy: 'default', rule: 'this tool: always' },
    input: {},
    requesters: ['U0RITA001'],
    contextAuthors: [],
    barred: [],
    threadId: 'C1:1.2',
    channel: 'C1',
    ...changes,
  });
}

/** Writes a module with one tool into a folder. */
export function writeModule(folder: string, file: string, tool: string, body = "return 'done';"): void {
  writeFileSync(
    join(folder, file),
    `import { defineTool } from ${JSON.stringify(`${ROOT}/src/index.ts`)};
export const tool = defineTool({ name: '${tool}', description: 'Does ${tool}.' }, async () => { ${body} });
`,
  );
}
