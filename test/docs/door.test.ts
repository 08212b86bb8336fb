import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { KEYS, startCalling } from '../stories/calling.ts';
import { CAST } from '../stories/support.ts';

const page = readFileSync(new URL('../../docs/door.md', import.meta.url), 'utf8');
const [, script = ''] = /^```python\n([\s\S]*?)^```$/m.exec(page) ?? [];

test('the Python script of the page asks, waits for people and prints the result', async () => {
  const door = await startCalling();
  const env = {
    ...process.env,
    COUNTERSIGN_URL: `http://127.0.0.1:${door.bot().port}`,
    NIGHT_JOB_KEY: KEYS.pipeline,
  };
  const running = promisify(execFile)('python3', ['-c', script], { env });
  await door.place.click(CAST.alice, /Approval needed/, 'approve');
  const { stdout } = await running;
  expect(stdout).toBe('succeeded {"orderId": "A-1001", "refunded": 12000, "total": 12000}\n');
});

test('the page names every address of the door', async () => {
  const door = await startCalling();
  const { body } = await door.send('GET', '/v1/openapi.json', { key: '' });
  const { paths } = body;
  for (const path of Object.keys(typeof paths === 'object' && paths !== null ? paths : {}))
    expect(page).toContain(path);
});
