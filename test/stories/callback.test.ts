import { expect, test } from 'vitest';
import { CAST, startStory } from './support.ts';

const wait = {
  name: 'wait_for_callback',
  arguments: {
    awaited: 'the build of checkout',
    result: { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] },
  },
};

test('a thread waits for a report from outside, and a signed, single-use address brings it', async () => {
  const replies = [{ calls: [wait] }, { text: 'The build went well.' }];
  const story = await startStory({ replies, withoutBot: true });
  const bot = await story.startOwnBot();
  const thread = story.ask('tell me when the build is done');
  await thread.click(CAST.requester, /the build of checkout/, 'show-address');
  const notice = await story.noticeFor(CAST.requester, /report back/);
  const [path = ''] = /\/callback\/[\w.-]+/.exec(notice.text) ?? [];
  const report = (body: string, where = path) =>
    fetch(`http://127.0.0.1:${bot.port}${where}`, { method: 'POST', body });

  await thread.click(CAST.alice, /the build of checkout/, 'show-address');
  await story.noticeFor(CAST.alice, /Only (a|the) requester/);
  expect((await report('{"ok":true}', `${path}x`)).status).toBe(401);
  const unfit = await report('{"ok":"yes"}');
  expect(unfit.status).toBe(400);
  expect(await unfit.text()).toContain('ok');

  // It has not happened yet, and no list reads as if it had.
  story.workspace.as(CAST.requester).openHome();
  await story.workspace.until(
    () =>
      /🟡 Waiting for: the build/.test(JSON.stringify(story.workspace.homeOf(CAST.requester)?.blocks ?? [])),
    { what: 'Home' },
  );

  expect((await report('{"ok":true}')).status).toBe(200);
  await thread.shows(/The build went well/);
  expect(story.toldOfCalls()).toEqual(['{"ok":true}']);
  expect((await report('{"ok":false}')).status).toBe(410);
});

test('a report that comes after its request was withdrawn is told so, and not to try again', async () => {
  const story = await startStory({
    replies: [{ calls: [wait] }, { text: 'Never mind.' }],
    withoutBot: true,
  });
  const bot = await story.startOwnBot();
  const thread = story.ask('tell me when the build is done');
  await thread.click(CAST.requester, /the build of checkout/, 'show-address');
  const notice = await story.noticeFor(CAST.requester, /report back/);
  const [path = ''] = /\/callback\/[\w.-]+/.exec(notice.text) ?? [];
  await thread.click(CAST.requester, /the build of checkout/, 'withdraw');
  await thread.shows(/Never mind\./);
  const late = await fetch(`http://127.0.0.1:${bot.port}${path}`, { method: 'POST', body: '{"ok":true}' });
  expect(late.status).toBe(410);
  expect(await late.text()).toContain('withdrawn');
});
