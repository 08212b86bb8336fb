import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { openBench } from 'countersign/testing';

test('a ticket is opened once it is approved, with who asked', async () => {
  const bench = await openBench({ manifest: resolve('manifest.yml') });
  process.chdir(mkdtempSync(join(tmpdir(), 'tickets-')));
  const asked = await bench.call('open_ticket', { title: 'Door is stuck' }, { requesters: ['U1'] });
  assert.equal(asked.state, 'asks');
  assert.match(asked.card ?? '', /Door is stuck/);
  assert.equal((await asked.approve()).state, 'ran');
  const { title, requester } = JSON.parse(readFileSync('tickets.jsonl', 'utf8'));
  assert.deepEqual({ title, requester }, { title: 'Door is stuck', requester: 'U1' });
  await bench.close();
});
