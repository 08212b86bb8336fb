import { execFile } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { buildModule } from '../support/build-module.ts';

const program = (module: string) => `
import { compileSchema } from ${JSON.stringify(pathToFileURL(module).href)};
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
  const module = await buildModule('src/agent/schema/compile-schema.ts');
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--expose-gc',
    '--input-type=module',
    '--eval',
    program(module),
  ]);
  // A schema that is kept takes some 28,000 bytes; the last hundred may still be there.
  expect(JSON.parse(stdout).grown).toBeLessThan(5_000);
});
