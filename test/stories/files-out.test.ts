import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { DEFAULT_SCOPES } from '../../playground/slack/default-cast.ts';
import { Secrets } from '../../src/tools/secrets.ts';
import { makePng } from '../support/make-file.ts';
import { CAST, MANIFEST, type StoryOptions, startStory } from './support.ts';

const { alice } = CAST;
const MODULE = './test/stories/fixtures/report-tools.ts';
const TOOLS = `${MANIFEST}
  export_orders: { module: ${MODULE}, approval: { require: never } }
  export_too_much: { module: ${MODULE}, approval: { require: never } }
`;
const EXPORT = { calls: [{ name: 'export_orders', arguments: {} }] };

/** Starts a story with tools that send files; `filesIn` lists the messages of a thread that show one. */
async function startWithFiles(options: StoryOptions = {}) {
  const story = await startStory({ manifest: TOOLS, ...options });
  const filesIn = (thread: { channel: string; ts: string }) =>
    story
      .repliesIn(thread)
      .flatMap(({ files = [] }) => files.map((id) => story.workspace.state.files.find(id)));
  return { story, filesIn };
}

test('a file of a tool is sent to the thread, and named in what the model reads', async () => {
  const { story, filesIn } = await startWithFiles({ replies: [EXPORT, { text: 'Here it is.' }] });
  const thread = story.ask('export the orders');
  await thread.shows(/Here it is\./);
  await story.workspace.until(() => filesIn(thread).length > 0, { what: 'a file in the thread' });
  await story.deliveredAll();
  expect(filesIn(thread)).toMatchObject([
    { name: 'orders.csv', bytes: Buffer.from('order,amount\nA-1001,120') },
  ]);
  expect(story.toldOfCalls()).toEqual([
    '{"output":{"rows":1},"files":["[orders.csv (text/csv, 23 bytes) is sent to the thread]"]}',
  ]);
  // The bytes leave the record when they were sent.
  expect(await story.redis.keys(`{${story.prefix}}:files:*`)).toEqual([]);
});

test('a file of an approved action is sent after it ran, once, though the answers of Slack are lost', async () => {
  const manifest = TOOLS.replace(
    `${MODULE}, approval: { require: never }`,
    `${MODULE}, approval: { policy: default }`,
  );
  const { story, filesIn } = await startWithFiles({ manifest, replies: [EXPORT, { text: 'Here it is.' }] });
  story.workspace.fail('files.getUploadURLExternal', { kind: 'lost-answer' });
  story.workspace.fail('files.completeUploadExternal', { kind: 'lost-answer' });
  const thread = story.ask('export the orders');
  await thread.click(alice, /Approval needed/, 'approve');
  await thread.shows(/Here it is\./);
  await story.workspace.until(() => filesIn(thread).length > 0, { what: 'a file in the thread' });
  await story.deliveredAll();
  expect(filesIn(thread)).toHaveLength(1);
  const methods = story.workspace.calls.map(({ method }) => method);
  expect(methods.filter((method) => method === 'files.completeUploadExternal')).toHaveLength(1);
  expect(methods).toContain('files.info');
});

test('a file beyond the limit is not taken, and the tool knows', async () => {
  const manifest = TOOLS.replace('instructions: Help.', 'instructions: Help., files: { max_size: 1KB }');
  const replies = [{ calls: [{ name: 'export_too_much', arguments: {} }] }, { text: 'Too much.' }];
  const { story, filesIn } = await startWithFiles({ manifest, replies });
  const thread = story.ask('export everything');
  await thread.shows(/Too much\./);
  expect(story.toldOfCalls()).toEqual(['{"isSent":false}']);
  expect(filesIn(thread)).toEqual([]);
});

test('without the scope people are told that a file could not be sent', async () => {
  const scopes = DEFAULT_SCOPES.filter((scope) => scope !== 'files:write');
  const { story } = await startWithFiles({
    replies: [EXPORT, { text: 'Here it is.' }],
    slack: { app: { scopes } },
  });
  const thread = story.ask('export the orders');
  await thread.shows(/couldn't send the file orders\.csv here \(missing_scope\)/);
});

test.each([
  { images: 'both', toThread: true, toModel: true },
  { images: 'thread', toThread: true, toModel: false },
  { images: 'model', toThread: false, toModel: true },
])('an image that an HTTP tool answers with goes to $images, as the manifest says', async (expected) => {
  const png = makePng(8, 8);
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'image/png' });
    response.end(png);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const http = `{ method: GET, url: "http://127.0.0.1:${port}/charts/sales.png", allow_private: ["127.0.0.1"] }`;
  const manifest = `${TOOLS}  chart: { description: Draws a chart., http: ${http}, images: ${expected.images}, approval: { require: never } }\n`;
  const replies = [{ calls: [{ name: 'chart', arguments: {} }] }, { text: 'The chart.' }];
  const { story, filesIn } = await startWithFiles({ manifest, replies });
  const thread = story.ask('draw the sales');
  await thread.shows(/The chart\./);
  await story.deliveredAll();
  expect(filesIn(thread)).toMatchObject(expected.toThread ? [{ name: 'sales.png', bytes: png }] : []);
  if (expected.toThread) expect(story.toldOfCalls()[0]).toContain('sales.png (image/png');
  const heard = JSON.stringify(story.model.requests.at(-1)?.messages);
  expect(heard.includes('data:image/png;base64,')).toBe(expected.toModel);
});

test('a secret in a text file of a tool is not sent', async () => {
  const { story, filesIn } = await startWithFiles({
    replies: [EXPORT, { text: 'Here it is.' }],
    withoutBot: true,
  });
  const secrets = new Secrets();
  secrets.add('A-1001');
  await story.startOwnBot({ secrets });
  const thread = story.ask('export the orders');
  await story.workspace.until(() => filesIn(thread).length > 0, { what: 'a file in the thread' });
  expect(filesIn(thread)).toMatchObject([{ bytes: Buffer.from('order,amount\n[redacted],120') }]);
  await thread.shows(/Here it is\./);
});
