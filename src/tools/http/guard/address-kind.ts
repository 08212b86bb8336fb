import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

export type AddressKind = 'public' | 'private' | 'metadata';

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
