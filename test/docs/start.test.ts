import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { run, writeManifest } from '../commands/support.ts';
import { CAST, startStory } from '../stories/support.ts';

const page = readFileSync(new URL('../../docs/start.md', import.meta.url), 'utf8');
const [tool = '', rules = '', cases = ''] = [...page.matchAll(/```yaml\n([\s\S]*?)```/g)].map(
  ([, block = '']) => block,
);
const HEAD = `policies:\n  default: { approvers: [${CAST.alice}] }\n`;
const environment = { GITHUB_TOKEN: 'github-token-of-a-test' };

/** Starts a GitHub that opens every issue; returns its address and what it received. */
async function startGitHub() {
  const received: { call: string; authorization: string | undefined; body: string }[] = [];
  const server = createServer(async (request, response) => {
    const { method, url, headers } = request;
    received.push({
      call: `${method} ${url}`,
      authorization: headers.authorization,
      body: await text(request),
    });
    const issue = { number: 7, html_url: 'https://github.com/my-org/my-repo/issues/7' };
    response.writeHead(201, { 'content-type': 'application/json' }).end(JSON.stringify(issue));
  }).listen(0, 'localhost');
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { origin: `http://localhost:${port}`, received };
}

test('the tool of the start page opens an issue once, after a click, with the text on the card', async () => {
  const { origin, received } = await startGitHub();
  const manifest = `${HEAD}${tool}`
    .replace('https://api.github.com', origin)
    .replace('      select:', '      allow_private: [localhost]\n      select:');
  const input = { title: 'The door is stuck', body: 'It should open with the badge.' };
  const story = await startStory({
    manifest,
    environment,
    replies: [{ calls: [{ name: 'open_issue', arguments: input }] }, { text: 'It is issue 7.' }],
  });
  const thread = story.ask('please open an issue: the door is stuck');
  await thread.shows(/Open the issue[\s\S]*The door is stuck[\s\S]*It should open with the badge/);
  expect(received).toEqual([]);
  await thread.click(CAST.alice, /Approve/, 'approve');
  await thread.shows(/It is issue 7\./);
  expect(story.toldOfCalls().at(-1)).toContain('https://github.com/my-org/my-repo/issues/7');
  expect(received).toEqual([
    {
      call: 'POST /repos/my-org/my-repo/issues',
      authorization: 'Bearer github-token-of-a-test',
      body: JSON.stringify(input),
    },
  ]);
});

test('the commands of the start page say what it says of its manifest', async () => {
  const manifest = writeManifest(`${HEAD}${tool}`);
  expect(await run(['manifest', 'check', manifest], environment)).toMatchObject({ code: 0, error: '' });
  const [, call = '', person = ''] = /explain open_issue '(.*)' --as (\w+)/.exec(page) ?? [];
  const explained = await run(['explain', 'open_issue', call, '--as', person], {
    ...environment,
    MANIFEST: manifest,
  });
  expect(explained).toMatchObject({ code: 0, error: '' });
  expect(explained.out).toMatch(/approv/i);
});

test('the cases of the start page hold for its rules', async () => {
  const manifest = writeManifest(`${HEAD}${tool}${rules}`);
  writeFileSync(join(dirname(manifest), 'manifest.test.yml'), cases);
  const settings = { ...environment, MANIFEST: manifest };
  expect(await run(['manifest', 'test'], settings)).toMatchObject({ code: 0, error: '' });
  writeFileSync(join(dirname(manifest), 'manifest.test.yml'), cases.replace('expect: run', 'expect: deny'));
  expect(await run(['manifest', 'test'], settings)).toMatchObject({ code: 1 });
});
