import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildModule } from '../support/build-module.ts';
import { temporaryFolder } from '../tools/mcp/support.ts';
import { CAST } from './support.ts';

const fixture = (name: string) =>
  buildModule(fileURLToPath(new URL(`../tools/mcp/fixtures/${name}.ts`, import.meta.url)));
const scripts = { current: await fixture('asking-server'), older: await fixture('older-asking-server') };
export type Protocol = keyof typeof scripts;

/** A manifest with a server that asks people, and what the server noted. */
export function askingManifest(
  protocol: Protocol,
  {
    rule = '{ require: never }',
    elicitation = '',
    grants = '',
  }: { rule?: string; elicitation?: string; grants?: string } = {},
) {
  const file = join(temporaryFolder(), 'notes');
  const asks = elicitation === '' ? '' : `, elicitation: ${elicitation}`;
  const manifest = `
slack: { display_information: { name: Countersign } }
agent: { instructions: Help., admins: [${CAST.admin}] }
policies:
  default: { approvers: [${CAST.alice}], direct_messages: false${grants === '' ? '' : `, grants: ${grants}`} }
tools:
  bookings:
    mcp: { command: ${JSON.stringify(process.execPath)}, args: ${JSON.stringify([scripts[protocol], file])}${asks} }
    approval: [ ${rule} ]
`;
  const notes = () =>
    readFileSync(file, { encoding: 'utf8', flag: 'a+' })
      .trim()
      .split('\n')
      .filter((line) => !line.startsWith('started '));
  return { manifest, notes };
}

export const ask = (name: string) => ({ calls: [{ name, arguments: { day: 'Monday' } }] });
