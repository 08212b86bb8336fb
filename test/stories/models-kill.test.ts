import { describe, expect, test } from 'vitest';
import { startDoomedBot } from './doomed-bot.ts';
import { CAST, MANIFEST, startStory } from './support.ts';

const MORTAL = { leaseMs: 1_500, renewMs: 200, claimMs: 1_500 };
const SWEEP = { everyMs: 100, overdueMs: 0 };
const refund = { name: 'refund_order', arguments: { orderId: 'A-1001', amount: 12_000, reason: 'broken' } };
const look = { name: 'read_order', arguments: { orderId: 'A-1001' } };

describe.each(['responses', 'chat'])('with the API %s', (api) => {
  test('what a killed process had asked for is approved and done by another, and the model gets all of its own back', async () => {
    const manifest = MANIFEST.replace('agent: {', `agent: { model: { api: ${api} },`);
    const story = await startStory({
      manifest,
      replies: [{ text: 'Let me look.', calls: [look] }, { calls: [refund] }, { text: 'Refunded.' }],
      timing: MORTAL,
      sweep: SWEEP,
      withoutBot: true,
    });
    const doomed = await startDoomedBot(story, manifest);
    const thread = story.ask('refund order A-1001');
    await thread.shows(/Approve/);
    await doomed.kill();

    await story.startOwnBot();
    await thread.click(CAST.alice, /Approve/, 'approve');
    await thread.shows(/Refunded\./);
    expect(await story.ledger.order('A-1001')).toMatchObject({ refunded: 12_000 });
    expect(story.model.refusals).toEqual([]);
    const path = api === 'chat' ? '/v1/chat/completions' : '/v1/responses';
    expect(story.model.bodies.map((sent) => sent.path)).toEqual([path, path, path]);
    const items = JSON.stringify(story.model.bodies.at(-1)?.body).match(/"type":"reasoning"/g) ?? [];
    expect(items).toHaveLength(api === 'chat' ? 0 : 2);
  });
});
