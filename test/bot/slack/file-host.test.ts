import { WebClient } from '@slack/web-api';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { FileHost } from '../../../src/bot/slack/file-host.ts';

const LIMITS = { maxBytes: 100, timeoutMs: 5_000 };
const file = (url: string) => ({ id: 'F1', name: 'a.txt', url });

/** A host of files at Slack's own address; `answer` plays Slack, and `asked` has what was sent where. */
function hostWith(answer: (url: URL) => Response) {
  const asked: { url: string; token: string | null }[] = [];
  const host = new FileHost({
    client: new WebClient('xoxb-1'),
    botToken: 'xoxb-1',
    apiUrl: undefined,
    fetch: async (input, init) => {
      const url = new URL(String(input));
      asked.push({ url: url.href, token: new Headers(init?.headers).get('authorization') });
      return answer(url);
    },
    logger: pino({ level: 'silent' }),
  });
  return { read: (url: string) => host.read(file(url), LIMITS, new AbortController().signal), asked, host };
}

test.each([
  'https://files.slack.com.example.com/a',
  'http://files.slack.com/a',
  'https://example.com/files.slack.com',
  'http://169.254.169.254/latest',
])('nothing is asked of %s', async (url) => {
  const { read, asked } = hostWith(() => new Response('secret'));
  expect(await read(url)).toEqual({ outcome: 'refused' });
  expect(asked).toEqual([]);
});

test('a redirect to another host is not followed, and the token stays with Slack', async () => {
  const { read, asked } = hostWith(() => Response.redirect('https://example.com/take-the-token', 302));
  expect(await read('https://files.slack.com/a')).toEqual({ outcome: 'refused' });
  expect(asked).toEqual([{ url: 'https://files.slack.com/a', token: 'Bearer xoxb-1' }]);
});

test('a redirect within Slack is followed, a few times', async () => {
  const { read, asked } = hostWith(({ pathname }) =>
    pathname === '/a' ? Response.redirect('https://files.slack.com/b', 302) : new Response('bytes'),
  );
  expect(await read('https://files.slack.com/a')).toEqual({ outcome: 'read', bytes: Buffer.from('bytes') });
  expect(asked).toHaveLength(2);
  const endless = hostWith(() => Response.redirect('https://files.slack.com/a', 302));
  expect(await endless.read('https://files.slack.com/a')).toEqual({ outcome: 'refused' });
  expect(endless.asked).toHaveLength(4);
});

test.each([
  [404, 'deleted'],
  [403, 'refused'],
  [500, 'unreachable'],
])('status %i is %s', async (status, outcome) => {
  const { read } = hostWith(() => new Response('', { status }));
  expect(await read('https://files.slack.com/a')).toEqual({ outcome });
});

test('a body is read up to the limit, whatever length it announces', async () => {
  const headers = { 'content-length': '5' };
  const exact = hostWith(() => new Response('x'.repeat(100), { headers }));
  expect(await exact.read('https://files.slack.com/a')).toMatchObject({ outcome: 'read' });
  const more = hostWith(() => new Response('x'.repeat(101), { headers }));
  expect(await more.read('https://files.slack.com/a')).toEqual({ outcome: 'too-large' });
});

test('bytes are uploaded to hosts of Slack alone, without the token', async () => {
  const { host, asked } = hostWith(() => new Response('OK'));
  await expect(host.upload('https://example.com/upload', Buffer.from('x'))).rejects.toThrow(/no host/);
  await host.upload('https://files.slack.com/upload/v1/1', Buffer.from('x'));
  expect(asked).toEqual([{ url: 'https://files.slack.com/upload/v1/1', token: null }]);
});
