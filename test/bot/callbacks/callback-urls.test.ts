import { expect, test } from 'vitest';
import { CallbackUrls } from '../../../src/bot/callbacks/callback-urls.ts';

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
