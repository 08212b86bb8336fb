import { expect, test } from 'vitest';
import {
  ANSWER_CARD,
  APPROVED,
  approveAnswer,
  ask,
  askingManifest,
  fillIn,
  type Protocol,
} from './asking-servers.ts';
import { MORTAL, startDoomedBot } from './doomed-bot.ts';
import { CAST, startStory } from './support.ts';

test.each<Protocol>(['current', 'older'])(
  'a question of a server of the %s protocol is answered and approved after the bot was killed and another one started, each time',
  async (protocol) => {
    const { manifest, notes } = askingManifest(protocol, APPROVED);
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
    await fillIn(story, thread, /Input needed: Who travels/);
    if (protocol === 'older') await approveAnswer(thread);
    await thread.shows(/Input needed: Which seat/);
    await story.deliveredAll();
    await second.kill();
    const third = await startDoomedBot(story, manifest);
    await fillIn(story, thread, /Input needed: Which seat/, { 'field-0': '1' });
    await thread.shows(ANSWER_CARD);
    await story.deliveredAll();
    await third.kill();
    await story.startOwnBot();
    expect(notes().filter((line) => line.startsWith('planned'))).toEqual([]);
    await approveAnswer(thread);
    await thread.shows(/Planned\./);
    expect(notes().filter((line) => line.startsWith('planned'))).toEqual([
      'planned accept Remi 3 accept window',
    ]);
  },
);
