import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { CAST, startStory } from '../stories/support.ts';
import { CallTrace } from '../support/trace-calls.ts';

const MANIFEST = `
slack: { display_information: { name: Countersign } }
agent: { instructions: Help. }
policies:
  default: { approvers: [${CAST.alice}], notify: { direct_messages: false } }
tools:
  noticed: { module: ./test/stories/fixtures/noticed-tool.ts, approval: { policy: default } }
`;
const HEADINGS = ['From a message to its card', 'From a click to its effect'] as const;
const SlackCall = z.object({ request: z.object({ path: z.string() }) });

/** Returns the lines of a section of a page that are items of a list. */
function listIn(page: string, heading: string): string[] {
  const text = readFileSync(fileURLToPath(new URL(`../../docs/${page}`, import.meta.url)), 'utf8');
  const [, section = ''] = text.split(`### ${heading}\n`);
  const [own = ''] = section.split(/^#/m);
  return own.split('\n').filter((line) => /^\d+\. /.test(line));
}

test('the page lists the functions from a message to its card, and from a click to its effect', async () => {
  const trace = new CallTrace();
  const ways = new Map<string, readonly string[]>();
  const note = (heading: string) => {
    if (ways.has(heading)) return;
    const callers = trace.callers();
    const received = callers.findLastIndex(({ name }) => name === 'processHeld') + 1;
    const lines = callers
      .slice(received)
      .map(({ name, file }, at) => `${at + 1}. \`${name}\` in \`${file}\``);
    ways.set(heading, lines);
  };
  const listen = (channel: string, listener: (message: unknown) => void) => {
    subscribe(channel, listener);
    onTestFinished(() => void unsubscribe(channel, listener));
  };
  listen('undici:request:create', (message) => {
    const { request } = SlackCall.parse(message);
    if (request.path.endsWith('/chat.postMessage')) note(HEADINGS[0]);
  });
  listen('countersign-test:effect', () => note(HEADINGS[1]));
  const story = await startStory({
    manifest: MANIFEST,
    replies: [{ calls: [{ name: 'noticed', arguments: {} }] }, { text: 'It is done.' }],
  });
  trace.start();
  onTestFinished(() => trace.stop());
  const thread = story.ask('do it');
  await thread.click(CAST.alice, /Approve/, 'approve');
  await thread.shows(/It is done\./);
  expect([...ways.keys()]).toEqual(HEADINGS);
  expect(HEADINGS.map((heading) => listIn('how-it-works.md', heading))).toEqual([...ways.values()]);
});
