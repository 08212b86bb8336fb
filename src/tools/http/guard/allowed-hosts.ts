import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { DefinitionError } from '../../../agent/errors.ts';
import { BlockedAddressError } from '../../errors.ts';

const METADATA_NAMES = new Set([
  'metadata',
  'metadata.google.internal',
  'metadata.goog',
  'metadata.azure.internal',
  'metadata.tencentyun.com',
  'instance-data',
  'instance-data.ec2.internal',
]);

// These mean this machine, whatever a resolver returns.
const LOCALHOST = /(?:^|\.)localhost$/;

/** The host and port of a connection that is about to be made. */
export interface Target {
  readonly host: string;
  readonly port: number;
}

/** The hosts that may be reached: all public ones, and the private ones that are named here. */
export class AllowedHosts {
  readonly #entries: ReadonlySet<string>;

  constructor(allowPrivate: readonly string[]) {
    this.#entries = new Set(allowPrivate.map(parseEntry));
  }

  /** Refuses a target by its name, before it is resolved. */
  checkName({ host, port }: Target): void {
    const name = normalizeName(host);
    if ((METADATA_NAMES.has(name) || LOCALHOST.test(name)) && !this.#names(name, port)) {
      throw new BlockedAddressError(name, 'not-allowed');
    }
    if (isIP(name) !== 0) this.checkAddress({ host, port }, name);
  }

  /** Refuses a target because of one address that it resolves to. */
  checkAddress({ host, port }: Target, address: string): void {
    const name = normalizeName(host);
    const kind: AddressKind = addressKind(address);
    if (kind === 'public') return;
    if (!this.#names(name, port)) throw new BlockedAddressError(name, 'not-allowed');
    // An admin who allows a name means an own service; DNS must not turn it into the cloud's credentials.
    if (kind === 'metadata' && isIP(name) === 0 && !METADATA_NAMES.has(name)) {
      throw new BlockedAddressError(name, 'metadata');
    }
  }

  #names(name: string, port: number): boolean {
    return this.#entries.has(name) || this.#entries.has(`${name} ${port}`);
  }
}

/** Normalizes a host name: lower case, no brackets, no dot at the end. */
function normalizeName(host: string): string {
  return host
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '');
}

function parseEntry(entry: string): string {
  if (isIP(entry) === 6) return parseEntry(`[${entry}]`);
  const [, host = '', port] = /^(\[[^\]]*\]|[^:]*)(?::([1-9]\d{0,4}))?$/.exec(entry) ?? [];
  const url =
    /^[^\s/?#@\\*]+$/.test(host) && URL.canParse(`http://${host}/`) ? new URL(`http://${host}/`) : undefined;
  if (url === undefined) {
    throw new DefinitionError(
      'invalid-option',
      `allow_private: "${entry}" is not a host name; write the exact name, with ":port" where only one port is meant`,
    );
  }
  const name = normalizeName(url.hostname);
  return port === undefined ? name : `${name} ${port}`;
}

type AddressKind = 'public' | 'private' | 'metadata';

// Metadata services outside the link-local range; two of them are in public or private ranges.
const METADATA_ADDRESSES = new Set(['100.100.100.200', '168.63.129.16', '192.0.0.192']);
const METADATA_ADDRESSES_6 = new Set([
  'fd00:ec2:0:0:0:0:0:254',
  'fd00:ec2:0:0:0:0:0:23',
  'fd20:ce:0:0:0:0:0:254',
]);

/** Classifies an address. Anything that is not known to be public is never public. */
export function addressKind(text: string): AddressKind {
  const version = isIP(text);
  // An address with a zone is valid on one link only.
  if (version === 0 || text.includes('%')) return 'private';
  if (version === 4) return kindOfIPv4(ipaddr.IPv4.parse(text));
  // The library misreads `::1.2.3.4` as a mapped address; the URL parser writes it in groups of digits.
  const address = ipaddr.IPv6.parse(new URL(`http://[${text}]`).hostname.slice(1, -1));
  if (METADATA_ADDRESSES_6.has(address.toNormalizedString())) return 'metadata';
  const wrapped = wrappedIPv4(address.parts);
  if (wrapped !== undefined) {
    const kind = kindOfIPv4(wrapped.address);
    return kind === 'public' && !wrapped.isInUse ? 'private' : kind;
  }
  return isGlobalUnicast(address) ? 'public' : 'private';
}

function kindOfIPv4(address: ipaddr.IPv4): AddressKind {
  const range = address.range();
  if (range === 'linkLocal' || METADATA_ADDRESSES.has(address.toString())) return 'metadata';
  return range === 'unicast' ? 'public' : 'private';
}

function isGlobalUnicast(address: ipaddr.IPv6): boolean {
  const [first = 0] = address.parts;
  // Public addresses are in 2000::/3 only.
  return first >> 13 === 1 && address.range() === 'unicast';
}

interface Wrapping {
  readonly prefix: readonly number[];
  /** The position of the IPv4 address, in groups of 16 bits. */
  readonly at: number;
  /** Whether public hosts are really reached this way; the other forms are obsolete and only help to hide an address. */
  readonly isInUse: boolean;
}

const wrappings: readonly Wrapping[] = [
  { prefix: [0, 0, 0, 0, 0, 0xffff], at: 6, isInUse: true }, // mapped
  { prefix: [0x64, 0xff9b, 0, 0, 0, 0], at: 6, isInUse: true }, // NAT64
  { prefix: [0x64, 0xff9b, 1], at: 6, isInUse: false }, // NAT64 of one network
  { prefix: [0, 0, 0, 0, 0, 0], at: 6, isInUse: false }, // compatible
  { prefix: [0, 0, 0, 0, 0xffff, 0], at: 6, isInUse: false }, // translated
  { prefix: [0x2002], at: 1, isInUse: false }, // 6to4
];

function wrappedIPv4(parts: readonly number[]) {
  for (const { prefix, at, isInUse } of wrappings) {
    if (!prefix.every((group, index) => parts[index] === group)) continue;
    const [high = 0, low = 0] = parts.slice(at);
    return { address: new ipaddr.IPv4([high >> 8, high & 255, low >> 8, low & 255]), isInUse };
  }
  return undefined;
}
