import { expect, test } from 'vitest';
import { ask, askingManifest, type Protocol } from './asking-servers.ts';
import { startDoomedBot } from './doomed-bot.ts';
import { CAST, startStory } from './support.ts';

const MORTAL = { heartbeatTimeoutMs: 1_500, heartbeatMs: 100, leaseMs: 1_500, renewMs: 200, claimMs: 1_500 };

test.each<Protocol>(['current', 'older'])(
  'a question of a server of the %s protocol is answered after the bot was killed and another one started',
  async (protocol) => {
    const { manifest, notes } = askingManifest(protocol, { rule: '{ policy: default }' });
    const story = await startStory({
      manifest,
      replies: [ask('plan_trip'), { text: 'Planned.' }],
      timing: MORTAL,
      sweep: { everyMs: 100, overdueMs: 0 },
      withoutBot: true,
    });
    const doomed = await startDoomedBot(story, manifest);
    const thread = story.ask('plan a trip');
    await thread.click(CAST.alice, /Approval needed/, 'approve');
    await thread.shows(/Input needed: Who travels/);
    await story.deliveredAll();
    await doomed.kill();
    const second = await startDoomedBot(story, manifest);
    const answer = async (question: RegExp, values: Record<string, string>) => {
      await thread.click(CAST.requester, question, 'fill-in');
      const modal = await story.modalFor(CAST.requester);
      await story.workspace.as(CAST.requester).submit(modal.id, values);
    };
    await answer(/Input needed: Who travels/, { 'field-0': 'Remi', 'field-1': '3' });
    await thread.shows(/Input needed: Which seat/);
    await story.deliveredAll();
    await second.kill();
    await story.startOwnBot();
    await answer(/Input needed: Which seat/, { 'field-0': '1' });
    await thread.shows(/Planned\./);
    expect(notes().filter((line) => line.startsWith('planned'))).toEqual([
      'planned accept Remi 3 accept window',
    ]);
  },
  240_000,
);
