import { AgentError } from '../../agent/errors.ts';

/** Why a host is out of reach: nobody allowed it, or only its metadata address itself could be allowed. */
export type BlockReason = 'not-allowed' | 'metadata';

/** A host that no call may reach; its sentence names the host as it was written, never what it resolves to. */
export class BlockedAddressError extends AgentError<'blocked-address'> {
  readonly host: string;
  readonly reason: BlockReason;

  constructor(host: string, reason: BlockReason) {
    super('blocked-address', sentences[reason](host));
    this.host = host;
    this.reason = reason;
  }
}

const sentences: Readonly<Record<BlockReason, (host: string) => string>> = {
  'not-allowed': (host) =>
    `The host "${host}" is not on the public internet, so nothing was sent; an admin allows it by adding "${host}" to allow_private.`,
  metadata: (host) =>
    `The host "${host}" leads to a cloud metadata service, so nothing was sent; allow_private opens that only to the address itself.`,
};
