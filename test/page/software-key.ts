import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

/** Ways in which a key can be made to lie. */
export interface Lies {
  readonly origin?: string;
  readonly rpId?: string;
  readonly flags?: number;
  readonly counter?: number;
  readonly type?: string;
  readonly crossOrigin?: boolean;
  /** Signs with a key that nobody has enrolled. */
  readonly foreignKey?: boolean;
}

const [PRESENT, VERIFIED, ATTESTED] = [0x01, 0x04, 0x40];

/** An authenticator in software: it makes P-256 keys and signs as a device does, and also what no browser would let it sign. */
export class SoftwareKey {
  readonly id: string;
  readonly #pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  readonly #foreign = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  readonly #origin: string;
  /** A synced key does not count. */
  counter: number;

  constructor(origin: string, { counter = 0, id = randomBytes(16).toString('base64url') } = {}) {
    this.id = id;
    this.#origin = origin;
    this.counter = counter;
  }

  get publicJwk() {
    const { x = '', y = '' } = this.#pair.publicKey.export({ format: 'jwk' });
    return { kty: 'EC', crv: 'P-256', x, y } as const;
  }

  get cosePublicKey(): Uint8Array<ArrayBuffer> {
    const { x, y } = this.publicJwk;
    return new Uint8Array([
      ...Buffer.from('a5010203262001215820', 'hex'),
      ...Buffer.from(x, 'base64url'),
      ...Buffer.from('225820', 'hex'),
      ...Buffer.from(y, 'base64url'),
    ]);
  }

  /** Answers `navigator.credentials.create`, as JSON. */
  create(challenge: string, lies: Lies = {}) {
    const id = Buffer.from(this.id, 'base64url');
    const data = Buffer.concat([
      this.#data(lies.flags ?? PRESENT | VERIFIED | ATTESTED, lies),
      Buffer.alloc(16),
      Buffer.from([0, id.length]),
      id,
      this.cosePublicKey,
    ]);
    const attestation = Buffer.concat([
      Buffer.from('a363666d74646e6f6e656761747453746d74a068617574684461746158', 'hex'),
      Buffer.from([data.length]),
      data,
    ]);
    return {
      ...{ id: this.id, rawId: this.id, type: 'public-key', clientExtensionResults: {} },
      response: {
        clientDataJSON: this.#client('webauthn.create', challenge, lies).toString('base64url'),
        attestationObject: attestation.toString('base64url'),
        transports: ['internal'],
      },
    };
  }

  /** Answers `navigator.credentials.get`, as the page sends it. */
  sign(challenge: string, lies: Lies = {}) {
    if (this.counter > 0) this.counter += 1;
    const data = this.#data(lies.flags ?? PRESENT | VERIFIED, lies);
    const client = this.#client(lies.type ?? 'webauthn.get', challenge, lies);
    const signed = Buffer.concat([data, createHash('sha256').update(client).digest()]);
    const key: KeyObject = lies.foreignKey === true ? this.#foreign : this.#pair.privateKey;
    return {
      credential: this.id,
      authenticatorData: data.toString('base64url'),
      clientDataJSON: client.toString('base64url'),
      signature: sign('sha256', signed, key).toString('base64url'),
    };
  }

  #data(flags: number, { rpId = new URL(this.#origin).hostname, counter = this.counter }: Lies): Buffer {
    const count = Buffer.alloc(4);
    count.writeUInt32BE(counter);
    return Buffer.concat([createHash('sha256').update(rpId).digest(), Buffer.from([flags]), count]);
  }

  #client(type: string, challenge: string, { origin = this.#origin, crossOrigin = false }: Lies): Buffer {
    return Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin }));
  }
}
