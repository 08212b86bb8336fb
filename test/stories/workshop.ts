import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { CAST } from './support.ts';

/** A manifest whose tools get stuck when they are told to; `policy` adds to the one that signs them. */
export const workshopManifest = (policy = '') => `
slack: { display_information: { name: Countersign } }
agent: { instructions: Help. }
policies:
  default: { approvers: [${CAST.alice}, ${CAST.bruno}], resolvers: [${CAST.admin}], direct_messages: false${policy} }
tools:
  workshop: { module: ./test/stories/fixtures/workshop-tools.ts, approval: { policy: default } }
`;

/** A folder in which the workshop's tools leave what they did, and in which they can be held up; it is gone after the test. */
export async function openWorkshop() {
  const folder = await mkdtemp(join(tmpdir(), 'workshop-'));
  const file = (name: string) => join(folder, name);
  const linesOf = async (name: string) => {
    const text = await readFile(file(name), 'utf8').catch(() => '');
    return text.split('\n').filter((line) => line !== '');
  };
  // Nothing that is held up outlives the test.
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return {
    /** The call of one of the tools, as the model makes it. */
    call: (name: string) => ({ name, arguments: { folder } }),
    hold: (when: 'before' | 'after') => writeFile(file(`hold-${when}`), ''),
    release: (when: 'before' | 'after') => rm(file(`hold-${when}`), { force: true }),
    /** Waits until a tool has left so many lines there. */
    has: (lines: number, name: 'effects' | 'tries') => expect.poll(() => linesOf(name)).toHaveLength(lines),
    keys: async (name: 'effects' | 'tries') => new Set(await linesOf(name)),
    linesOf,
  };
}
