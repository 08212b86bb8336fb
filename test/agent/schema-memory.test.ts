import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const compileSchema = fileURLToPath(new URL('../../src/agent/schema/compile-schema.ts', import.meta.url));

const PROGRAM = `
import { compileSchema } from ${JSON.stringify(compileSchema)};
const check = (times) => {
  for (let i = 0; i < times; i += 1) {
    const schema = { type: 'object', properties: { ['field' + i]: { type: 'string', maxLength: 10 } } };
    compileSchema(schema, 'wait_for_callback', 'result').parse({ ['field' + i]: 'x' });
  }
  gc();
  gc();
  return process.memoryUsage().heapUsed;
};
check(200);
const before = check(100);
const after = check(1_000);
console.log(JSON.stringify({ grown: (after - before) / 1_000 }));
`;

test('a schema that is compiled for one check leaves nothing behind', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--expose-gc',
    '--import',
    'tsx',
    '--input-type=module',
    '--eval',
    PROGRAM,
  ]);
  // A schema that is kept takes some 28,000 bytes; the last hundred may still be there.
  expect(JSON.parse(stdout).grown).toBeLessThan(5_000);
});
