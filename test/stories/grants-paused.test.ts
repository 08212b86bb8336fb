import { expect, test } from 'vitest';
import type { ModelReply } from '../../playground/model/model-reply.ts';
import { ANSWER_CARD, APPROVED, approveAnswer, ask, askingManifest, fillIn } from './asking-servers.ts';
import { CAST, startStory } from './support.ts';

const { alice } = CAST;

/** Has a first call approved and the same allowed once more; it ends with its question answered. */
async function startGranted(replies: readonly ModelReply[]) {
  const { manifest, notes } = askingManifest('current', {
    ...APPROVED,
    grants: '{ for: 2h, uses: 1 }',
  });
  const story = await startStory({
    manifest,
    replies: [ask('book_table'), { text: 'One.' }, ...replies],
    slack: { app: { commands: ['/countersign'] } },
  });
  const thread = story.ask('book a table');
  const card = await thread.shows(/Approval needed/);
  const person = story.workspace.as(alice);
  await person.choose({ channel: thread.channel, ts: card.ts }, 'more', 'approve-grant');
  const modal = await story.modalFor(alice, /without asking anyone/);
  await person.submit(modal.id, {});
  await fillIn(story, thread, /Input needed/);
  await approveAnswer(thread);
  await thread.shows(/One\./);
  const booked = () => notes().filter((line) => line.startsWith('booked'));
  return { story, thread, booked };
}

test('a call that runs under a grant keeps it while its server asks: one use, and only the answer is approved', async () => {
  const { story, thread, booked } = await startGranted([
    ask('book_table'),
    { text: 'Two.' },
    ask('book_table'),
  ]);
  story.ask('and another', { threadTs: thread.ts });
  await thread.shows(/ started · pre-approved by .*\(1 of 1\)/);
  await fillIn(story, thread, /Input needed/);
  await thread.shows(ANSWER_CARD);
  expect(booked()).toHaveLength(1);
  await approveAnswer(thread);
  await thread.shows(/Two\./);
  expect(booked()).toHaveLength(2);
  expect(story.repliesIn(thread).filter(({ text }) => text.startsWith('Approval needed'))).toEqual([]);
  story.ask('a third', { threadTs: thread.ts });
  await thread.shows(/Approval needed/);
  expect(booked()).toHaveLength(2);
});

test('a grant that is revoked while the server waits for its answer does not carry the call on', async () => {
  const { story, thread, booked } = await startGranted([ask('book_table')]);
  story.ask('and another', { threadTs: thread.ts });
  await thread.shows(/Input needed/);
  await thread.click(alice, /Also pre-approved/, 'revoke-grant');
  await story.noticeFor(alice, /Pre-approval ended/);
  await fillIn(story, thread, /Input needed/);
  await thread.shows(/Approval needed/);
  expect(booked()).toHaveLength(1);
});
