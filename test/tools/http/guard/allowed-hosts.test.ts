import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BlockedAddressError } from '../../../../src/tools/errors.ts';
import { guardedFetch } from '../../../../src/tools/http/guard/guarded-fetch.ts';
import { type RecordingServer, startRecordingServer } from '../recording-server.ts';

let server: RecordingServer;
beforeAll(async () => {
  server = await startRecordingServer();
});
afterAll(() => server.stop());

async function reach(host: string, allowPrivate: readonly string[], answer = '127.0.0.1'): Promise<unknown> {
  const fetch = guardedFetch({ allowPrivate, lookup: async () => [answer], timeoutMs: 5000, maxBytes: 1000 });
  return await fetch(`http://${host}:${server.port}/`).then(
    (response) => response.text(),
    (error: unknown) => error,
  );
}

describe('a host that is allowed by name', () => {
  test.each([
    ['its name', 'intranet', 'intranet'],
    ['its name in another case', 'Intranet', 'INTRANET'],
    ['its name with a trailing dot', 'intranet.', 'intranet'],
    ['an international name', 'xn--bcher-kva.example', 'bücher.example'],
    ['its address', '127.0.0.1', '127.0.0.1'],
  ])('is reached by %s', async (_how, host, entry) => {
    expect(await reach(host, [entry])).toBe('reached');
  });

  test('is reached on the port that was named, and on no other', async () => {
    expect(await reach('intranet', [`intranet:${server.port}`])).toBe('reached');
    expect(await reach('intranet', [`intranet:${server.port + 1}`])).toBeInstanceOf(BlockedAddressError);
  });

  test('may be an IPv6 address, with brackets or as the error writes it', async () => {
    for (const entry of ['::ffff:7f00:1', '[::ffff:127.0.0.1]', `[::FFFF:7f00:1]:${server.port}`]) {
      expect(await reach('[::ffff:127.0.0.1]', [entry])).toBe('reached');
    }
  });

  test('opens neither the hosts beneath it nor the ones that end like it', async () => {
    for (const host of ['sub.intranet', 'evilintranet', 'intranet.example']) {
      expect(await reach(host, ['intranet'])).toBeInstanceOf(BlockedAddressError);
    }
  });

  test('does not open its address under another name, nor another spelling that hides it', async () => {
    expect(await reach('other', ['127.0.0.1'])).toBeInstanceOf(BlockedAddressError);
    expect(await reach('[::ffff:127.0.0.1]', ['127.0.0.1'])).toBeInstanceOf(BlockedAddressError);
  });

  test('does not lead to a metadata service, which only its own address opens', async () => {
    expect(await reach('intranet', ['intranet'], '169.254.169.254')).toMatchObject({ reason: 'metadata' });
    expect(await reach('intranet', ['intranet'], '::ffff:169.254.169.254')).toMatchObject({
      reason: 'metadata',
    });
  });

  test('may be a metadata name when that is what was named', async () => {
    expect(await reach('metadata.google.internal', ['metadata.google.internal'])).toBe('reached');
    expect(await reach('metadata.google.internal', [])).toBeInstanceOf(BlockedAddressError);
  });
});

describe('the error', () => {
  test('names the host and how to allow it, never the address behind it', async () => {
    const error = await reach('intranet.example', [], '10.11.12.13');
    expect(error).toMatchObject({
      name: 'BlockedAddressError',
      code: 'blocked-address',
      host: 'intranet.example',
      message:
        'The host "intranet.example" is not on the public internet, so nothing was sent; an admin allows it by adding "intranet.example" to allow_private.',
    });
    expect(JSON.stringify(error)).not.toContain('10.11.12.13');
  });

  test.each([
    '',
    '*',
    '*.example',
    'http://intranet',
    'intranet/path',
    'ann@intranet',
    'intranet:0',
    'in tranet',
    '::1:80:',
  ])('an entry that is not a host, "%s", is a mistake', (entry) => {
    expect(() => guardedFetch({ allowPrivate: [entry] })).toThrow(`"${entry}" is not a host name`);
  });
});
