import { isIP } from 'node:net';
import { DefinitionError } from '../../../agent/errors.ts';
import { BlockedAddressError } from '../../errors.ts';
import { type AddressKind, addressKind } from './address-kind.ts';

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
