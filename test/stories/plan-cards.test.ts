import type { KnownBlock } from '@slack/types';
import { expect, test } from 'vitest';
import { close, openDesk, pay, propose, ticketManifest } from './planning.ts';
import { CAST, startStory } from './support.ts';

const { alice } = CAST;

/** The texts of the cells of a card's table; none where it has no table. */
function tableIn(blocks: readonly { readonly type: string }[]): string[][] | undefined {
  const table = blocks.find((block): block is KnownBlock & { type: 'table' } => block.type === 'table');
  return table?.rows.map((row) => row.map((cell) => (cell.type === 'raw_text' ? cell.text : '')));
}

test('the card of a plan says what it does, how many of its steps it covers, and lists all in a table', async () => {
  await openDesk();
  const story = await startStory({
    manifest: ticketManifest(),
    replies: [
      propose(close('T-1'), pay('Acme', 80), pay('Bolt', 4_500), close('T-2', 'Bolt'), pay('Cole', 9_000)),
    ],
  });
  const thread = story.ask('clear the queue');
  const { blocks } = await thread.shows(/Approval needed: Close 2 tickets and pay Acme 80/);
  expect(JSON.stringify(blocks[0])).toContain('Close 2 tickets and pay Acme 80?');
  const text = JSON.stringify(blocks);
  expect(text).toContain('3 of 5 planned steps; steps 3 and 5 have their own cards');
  expect(text).toContain('"Approve 3 steps"');
  expect(tableIn(blocks)).toEqual([
    ['Step', 'What', 'Note'],
    ['1', 'Close ticket T-1', 'Ticket: T-1 · Customer: Acme'],
    ['2', 'Pay Acme 80', 'Customer: Acme · Amount: 80'],
    ['3', 'Pay Bolt 4500', 'own card'],
    ['4', 'Close ticket T-2', 'Ticket: T-2 · Customer: Bolt'],
    ['5', 'Pay Cole 9000', 'own card'],
  ]);
  // What the agent says it is for comes after what runs.
  expect(text.indexOf('Clear the queue')).toBeGreaterThan(text.indexOf('Pay Cole 9000'));
  // The same words lead to it from Home.
  story.workspace.as(alice).openHome();
  await story.workspace.until(
    () =>
      JSON.stringify(story.workspace.homeOf(alice)?.blocks ?? []).includes('Close 2 tickets and pay Acme 80'),
    { what: 'Home' },
  );
});

test('calls of one tool are counted only if each is about another thing', async () => {
  await openDesk();
  const story = await startStory({
    manifest: ticketManifest(),
    replies: [propose(pay('Acme', 20), pay('Acme', 30), close('T-1'))],
  });
  await story.ask('pay twice').shows(/Approval needed: Pay customer 2 times and close ticket T-1/);
});

test('steps with more to read than a row are told one by one', async () => {
  await openDesk();
  const long = 'a customer whose name has more letters than a cell of a table';
  const story = await startStory({
    manifest: ticketManifest(),
    replies: [propose(close('T-1', long), close('T-2'))],
  });
  const { blocks } = await story.ask('close both').shows(/2 planned steps/);
  expect(tableIn(blocks)).toBeUndefined();
  expect(JSON.stringify(blocks)).toMatch(
    /Close ticket T-1[\s\S]*whose name has more letters[\s\S]*Close ticket T-2/,
  );
});

test('a workspace that refuses tables gets the same steps as text', async () => {
  await openDesk();
  const story = await startStory({
    manifest: ticketManifest(),
    replies: [propose(close('T-1'), close('T-2'))],
  });
  story.workspace.fail(
    'chat.postMessage',
    { kind: 'refuse', error: 'invalid_blocks' },
    { calls: 99, when: (given) => JSON.stringify(given).includes('column_settings') },
  );
  const { blocks } = await story.ask('close both').shows(/2 planned steps/);
  expect(tableIn(blocks)).toBeUndefined();
  expect(JSON.stringify(blocks)).toContain('1  Close ticket T-1  Ticket: T-1 · Customer: Acme');
});
