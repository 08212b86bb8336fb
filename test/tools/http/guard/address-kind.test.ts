import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BlockedAddressError } from '../../../../src/tools/errors.ts';
import { addressKind } from '../../../../src/tools/http/guard/allowed-hosts.ts';
import { guardedFetch } from '../../../../src/tools/http/guard/guarded-fetch.ts';
import { type RecordingServer, startRecordingServer } from '../recording-server.ts';

let server: RecordingServer;
beforeAll(async () => {
  server = await startRecordingServer();
});
afterAll(() => server.stop());

const limits = { timeoutMs: 5000, maxBytes: 1000 };

async function refusalOf(host: string, scheme = 'http'): Promise<unknown> {
  const fetch = guardedFetch({ ...limits, allowPrivate: [] });
  return await fetch(`${scheme}://${host}:${server.port}/`).then(
    () => 'answered',
    (error: unknown) => error,
  );
}

describe('this machine is refused in every spelling, and no connection is opened', () => {
  test.each([
    ['dotted', '127.0.0.1'],
    ['another loopback address', '127.8.9.10'],
    ['decimal', '2130706433'],
    ['octal', '017700000001'],
    ['octal parts', '0177.0.0.01'],
    ['hexadecimal', '0x7f000001'],
    ['hexadecimal parts', '0x7f.0x0.0x0.0x1'],
    ['mixed parts', '0x7f.0.0.01'],
    ['two parts', '127.1'],
    ['three parts', '127.0.1'],
    ['unspecified', '0.0.0.0'],
    ['short unspecified', '0'],
    ['a trailing dot', '127.0.0.1.'],
    ['percent-encoded', '%31%32%37.0.0.1'],
    ['full-width digits and stops', '１２７。０。０。１'],
    ['circled digits', '①②⑦.0.0.1'],
    ['IPv6 loopback', '[::1]'],
    ['IPv6 loopback at full length', '[0000:0000:0000:0000:0000:0000:0000:0001]'],
    ['IPv6 unspecified', '[::]'],
    ['IPv4-mapped', '[::ffff:127.0.0.1]'],
    ['IPv4-mapped in hexadecimal', '[::ffff:7f00:1]'],
    ['IPv4-compatible', '[::127.0.0.1]'],
    ['IPv4-translated', '[::ffff:0:127.0.0.1]'],
    ['NAT64', '[64:ff9b::127.0.0.1]'],
    ['NAT64 of one network', '[64:ff9b:1::127.0.0.1]'],
    ['6to4', '[2002:7f00:1::]'],
    ['the name localhost', 'localhost'],
    ['localhost in capitals', 'LOCALHOST'],
    ['localhost with a trailing dot', 'localhost.'],
    ['a name beneath localhost', 'app.localhost'],
    ['localhost in circled letters', 'ⓛⓞⓒⓐⓛⓗⓞⓢⓣ'],
  ])('%s: %s', async (_spelling, host) => {
    const before = server.connections;
    expect(await refusalOf(host)).toBeInstanceOf(BlockedAddressError);
    expect(await refusalOf(host, 'https')).toBeInstanceOf(BlockedAddressError);
    expect(server.connections).toBe(before);
  });

  test('the same server is reached once its address is allowed, so it would have seen them', async () => {
    const before = server.connections;
    const fetch = guardedFetch({ ...limits, allowPrivate: ['127.0.0.1'] });
    expect(await (await fetch(server.origin)).text()).toBe('reached');
    expect(server.connections).toBe(before + 1);
  });
});

describe('other reserved addresses are refused', () => {
  test.each([
    ['private, class A', '10.1.2.3'],
    ['private, class B', '172.16.0.1'],
    ['private, the last of class B', '172.31.255.255'],
    ['private, class C', '192.168.1.1'],
    ['link-local', '169.254.1.1'],
    ['metadata', '169.254.169.254'],
    ['metadata in decimal', '2852039166'],
    ['metadata of Alibaba', '100.100.100.200'],
    ['metadata of Azure, in a public range', '168.63.129.16'],
    ['metadata of Oracle', '192.0.0.192'],
    ['metadata over IPv6', '[fd00:ec2::254]'],
    ['metadata, mapped', '[::ffff:169.254.169.254]'],
    ['carrier-grade NAT', '100.64.0.1'],
    ['benchmark', '198.18.0.1'],
    ['documentation 1', '192.0.2.1'],
    ['documentation 2', '198.51.100.1'],
    ['documentation 3', '203.0.113.1'],
    ['multicast', '224.0.0.1'],
    ['reserved', '240.0.0.1'],
    ['broadcast', '255.255.255.255'],
    ['unique local', '[fd12:3456::1]'],
    ['IPv6 link-local', '[fe80::1]'],
    ['IPv6 site-local', '[fec0::1]'],
    ['IPv6 multicast', '[ff02::1]'],
    ['IPv6 documentation', '[2001:db8::1]'],
    ['newer IPv6 documentation', '[3fff::1]'],
    ['IPv6 benchmark', '[2001:2::1]'],
    ['Teredo', '[2001::1]'],
    ['IPv6 that is not assigned', '[4000::1]'],
    ['6to4 of a public address', '[2002:808:808::1]'],
    ['NAT64 of a private address', '[64:ff9b::10.0.0.1]'],
    ['the metadata name of Google', 'metadata.google.internal'],
    ['a metadata name in capitals with a dot', 'Metadata.Google.Internal.'],
    ['a short metadata name', 'instance-data'],
  ])('%s: %s', async (_kind, host) => {
    expect(await refusalOf(host)).toBeInstanceOf(BlockedAddressError);
  });

  test.each(['8.8.8.8', '2606:4700::1111', '::ffff:8.8.8.8', '64:ff9b::8.8.8.8'])(
    '%s is public',
    (address) => {
      expect(addressKind(address)).toBe('public');
    },
  );

  test.each(['', 'localhost', '2130706433', '127.1', '1.2.3.4.5', '2606:4700::1111%eth0'])(
    'a resolver that answers "%s" has given no public address',
    (answer) => {
      expect(addressKind(answer)).toBe('private');
    },
  );
});

describe('what is not a plain http or https URL is refused', () => {
  test.each([
    ['a user name before the host', (port: number) => `http://good.example@127.0.0.1:${port}/`],
    ['a user name and password', (port: number) => `http://good.example:80@127.0.0.1:${port}/`],
    ['an encoded user name', (port: number) => `http://good.example%2f@127.0.0.1:${port}/`],
    ['a backslash before the at sign', (port: number) => `http://127.0.0.1:${port}\\@good.example/`],
    ['no slashes', (port: number) => `http:127.0.0.1:${port}/`],
    ['blanks inside', (port: number) => `ht\ntp://127.0.0.1:${port}/`],
  ])('%s', async (_trick, url) => {
    const before = server.connections;
    const fetch = guardedFetch({ ...limits, allowPrivate: [] });
    await expect(fetch(url(server.port))).rejects.toThrow(/user name or password|not on the public internet/);
    expect(server.connections).toBe(before);
  });

  test.each([
    'file:///etc/passwd',
    'ftp://127.0.0.1/',
    'data:text/plain,x',
    'gopher://127.0.0.1:6379/_PING',
    'blob:x',
  ])('the scheme of %s', async (url) => {
    const fetch = guardedFetch({ ...limits, allowPrivate: ['127.0.0.1'] });
    await expect(fetch(url)).rejects.toMatchObject({ code: 'invalid-request' });
  });

  test('a password in a URL is not repeated in the error', async () => {
    const fetch = guardedFetch({ ...limits, allowPrivate: [] });
    await expect(fetch('https://ann:hunter2@good.example/')).rejects.toThrow(
      'The URL for "good.example" carries a user name or password; send credentials in a header instead.',
    );
  });
});
