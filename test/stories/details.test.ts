import { expect, onTestFinished, test } from 'vitest';
import { startRecordingServer } from '../tools/http/recording-server.ts';
import { CAST, MANIFEST, startStory } from './support.ts';

const { alice, bruno } = CAST;

test('open Details follow their request from waiting over running to done, and never say of it what is over', async () => {
  let goOn = () => {};
  const until = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  onTestFinished(() => goOn());
  const server = await startRecordingServer((response) => void until.then(() => response.end('{}')));
  onTestFinished(() => server.stop());
  const story = await startStory({
    manifest: `${MANIFEST}  book:
    description: Books.
    title: Book it
    http: { method: POST, url: "${server.origin}/book", allow_private: ["127.0.0.1"] }
    approval: { policy: default }
`,
    replies: [{ calls: [{ name: 'book', arguments: {} }] }, { text: 'Booked.' }],
  });
  const thread = story.ask('book it');
  await thread.click(alice, /Approval needed: Book it/, 'details');
  const waiting = await story.modalFor(alice, /· Waiting/);
  // Approve comes after the texts, in the last block.
  const types = waiting.blocks.map((block) => JSON.stringify(block));
  expect(types.findIndex((block) => block.includes('"approve"'))).toBe(types.length - 1);
  expect(types.findIndex((block) => block.includes('rich_text_preformatted'))).toBeGreaterThan(-1);
  await thread.click(bruno, /Approval needed: Book it/, 'approve');
  await story.workspace.until(() => server.requests.length === 1, { what: 'the call' });
  const running = await story.modalFor(alice, /· Running/);
  expect(running.id).toBe(waiting.id);

  // Details that are opened while it runs follow too.
  await thread.click(bruno, /Running: Book it/, 'details');
  await story.modalFor(bruno, /· Running/);
  goOn();
  for (const who of [alice, bruno]) {
    const done = await story.modalFor(who, /· Done/);
    expect(JSON.stringify(done.blocks)).not.toMatch(/Expires|exactly as they will run|"approve"/);
  }
  await thread.shows(/Booked\./);
});
