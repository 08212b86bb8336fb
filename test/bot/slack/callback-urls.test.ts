import { expect, test } from 'vitest';
import { CallbackUrls } from '../../../src/bot/slack/callback-urls.ts';
import { readSettings } from '../../../src/settings.ts';

const urls = new CallbackUrls('https://bot.example/', 'a secret');
const call = { threadId: 'C1:1700000000.000100', idempotencyKey: 'key-1' };

/** Made before an address could name its request, and for a time that is long over. */
const EARLIER =
  'WyJDMToxNzAwMDAwMDAwLjAwMDEwMCIsImtleS0xIiwxNzAwMDAwMDAwMDAwLCJBQUVDQXdRRkJnY0lDUW9MIl0.p66cNzYeUon4Sx4Lp4iB4v-V5a8Of8hRX1WS9YToIEY';

test('an address that was made earlier is still read', () => {
  expect(urls.read(EARLIER)).toEqual({ ...call, addressId: 'AAECAwQFBgcICQoL' });
});

test.each([call, { ...call, requestId: `${call.threadId}~pause-1` }])(
  'an address stands for what it was made for: %#',
  (target) => {
    const [, token = ''] = urls.make(target).split('https://bot.example/callback/');
    expect(urls.read(token)).toEqual({ ...target, addressId: expect.any(String) });
  },
);

test.each<[string, { readonly CALLBACK_SECRET?: string }]>([
  ['a key derived from the bot token', {}],
  ['CALLBACK_SECRET where it is set', { CALLBACK_SECRET: 'a secret of its own, which is long enough' }],
])('an address is signed with %s, and never with the bot token itself', (_, own) => {
  const botToken = 'xoxb-1-not-a-real-token';
  const read = readSettings({
    ...{ SLACK_BOT_TOKEN: botToken, SLACK_APP_TOKEN: 'xapp-1-not-a-real-token' },
    ...{ OPENAI_API_KEY: 'key', OPENAI_MODEL: 'model', REDIS_URL: 'redis://127.0.0.1:6379' },
    ...own,
  });
  if (!read.ok) throw new Error(read.problems.join('\n'));
  const { callbackSecret } = read.settings;
  const [, token = ''] = new CallbackUrls('', callbackSecret).make(call).split('/callback/');
  expect(new CallbackUrls('', botToken).read(token)).toBe('invalid');
  expect(new CallbackUrls('', own.CALLBACK_SECRET ?? callbackSecret).read(token)).toMatchObject(call);
});
