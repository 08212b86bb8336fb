import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { run } from '../commands/support.ts';
import { CAST, startStory } from './support.ts';

const folder = fileURLToPath(new URL('../../examples/shop', import.meta.url));
const file = `${folder}/small.yml`;
const manifest = readFileSync(file, 'utf8');

test('the shortest useful manifest has twelve lines, stands in the docs, and has no mistake', async () => {
  expect(manifest.trimEnd().split('\n')).toHaveLength(12);
  const page = readFileSync(new URL('../../docs/configure.md', import.meta.url), 'utf8');
  expect(page).toContain(`\`\`\`yaml\n${manifest}\`\`\`\n`);
  expect(await run(['manifest', 'check', file])).toMatchObject({ code: 0, error: '' });
});

test('with the shortest manifest people read without approval, and approve a refund', async () => {
  const replies = [
    { calls: [{ name: 'read_order', arguments: { orderId: 'A-1001' } }] },
    { calls: [{ name: 'refund_order', arguments: { orderId: 'A-1001', amount: 2_000 } }] },
    { text: 'It is refunded.' },
  ];
  const story = await startStory({ manifest, folder, replies });
  const thread = story.ask('refund 20 dollars of order A-1001');
  await thread.shows(/Refund [\s\S]*20\.00[\s\S]*of order[\s\S]*Approve/);
  await thread.click(CAST.alice, /Approve/, 'approve');
  await thread.shows(/It is refunded\./);
  expect(await story.ledger.order('A-1001')).toMatchObject({ refunded: 2_000 });
});
