import { expect, test } from 'vitest';
import { startDoomedBot } from '../doomed-bot.ts';
import { CAST } from '../support.ts';
import { Browser, codeIn, startAccountStory } from './support.ts';

const whoami = { calls: [{ name: 'whoami', arguments: {} }] };

test('a bot that is killed between the consent and the call leaves the account and the call to the next one', async () => {
  const story = await startAccountStory({
    replies: [whoami, { text: 'Done.' }],
    timing: { leaseMs: 1_500, renewMs: 200, claimMs: 1_500 },
    sweep: { everyMs: 100, overdueMs: 0 },
  });
  const doomed = await startDoomedBot(story, story.manifest);
  const thread = story.ask('who am I there?');
  const { modal, link } = await story.openModal(thread);
  const { text } = await new Browser('remi-at-docs').visit(link);
  await story.workspace.as(CAST.requester).submit(modal.id, { code: codeIn(text) });
  await doomed.kill();
  await story.startBot();
  // Killed before the card was answered, its button finds the account that is there.
  const card = await thread.shows(/Approval needed|Connect your account/);
  if (!/Approval needed/.test(card.text)) {
    const isWaiting = JSON.stringify(card.blocks).includes('"connect"');
    if (isWaiting) await thread.click(CAST.requester, /Connect your account/, 'connect');
  }
  await thread.click(CAST.alice, /Approval needed/, 'approve');
  await thread.shows(/Done\./);
  expect(story.mcp.calls).toEqual([{ tool: 'whoami', as: 'remi-at-docs' }]);
  expect(story.oauth.tokensBy('authorization_code')).toBe(1);
}, 180_000);
