import { isIP } from 'node:net';
import { DefinitionError } from '../../../agent/errors/definition-error.ts';
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

// These mean this machine whatever a resolver says of them.
const LOCALHOST = /(?:^|\.)localhost$/;

/** A host and port as a connection is about to be made to them. */
export interface Target {
  readonly host: string;
  readonly port: number;
}

/** Who may be reached: everybody public, and beyond that only the hosts that are named here. */
export class AllowedHosts {
  readonly #entries: ReadonlySet<string>;

  constructor(allowPrivate: readonly string[]) {
    this.#entries = new Set(allowPrivate.map(parseEntry));
  }

  /** Refuses a target by its name alone, before anybody is asked for its address. */
  checkName({ host, port }: Target): void {
    const name = plainName(host);
    if ((METADATA_NAMES.has(name) || LOCALHOST.test(name)) && !this.#names(name, port)) {
      throw new BlockedAddressError(name, 'not-allowed');
    }
    if (isIP(name) !== 0) this.checkAddress({ host, port }, name);
  }

  /** Refuses a target for one address that it leads to. */
  checkAddress({ host, port }: Target, address: string): void {
    const name = plainName(host);
    const kind: AddressKind = addressKind(address);
    if (kind === 'public') return;
    if (!this.#names(name, port)) throw new BlockedAddressError(name, 'not-allowed');
    // Whoever allowed a name thought of a service of their own; its DNS must not turn that into credentials of the cloud.
    if (kind === 'metadata' && isIP(name) === 0 && !METADATA_NAMES.has(name)) {
      throw new BlockedAddressError(name, 'metadata');
    }
  }

  #names(name: string, port: number): boolean {
    return this.#entries.has(name) || this.#entries.has(`${name} ${port}`);
  }
}

/** A host name as it is compared: lower case, no brackets, no dot at the end. */
function plainName(host: string): string {
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
  const name = plainName(url.hostname);
  return port === undefined ? name : `${name} ${port}`;
}
