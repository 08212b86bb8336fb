import { CAST } from '../../../playground/slack/default-cast.ts';
import type { Workspace } from '../../../playground/slack/workspace.ts';
import { addPasskey } from '../../../src/engine/passkeys.ts';
import { Cookies, Sessions } from '../../../src/page/session.ts';
import type { Store } from '../../../src/store/port/store.ts';
import { SoftwareKey } from '../../page/software-key.ts';

const LINK = /\/approve\/([\w-]+)/;

/** The approver with a passkey: she opens the links that the bot sends her on the page of one of the workers, and signs. */
export class Signers {
  readonly #workspace: Workspace;
  readonly #store: Store;
  readonly #sessions: Sessions;
  readonly #ports: () => readonly number[];
  readonly #publicUrl: string;
  readonly #key: SoftwareKey;
  readonly #seen = new Set<string>();
  /** She signs one after the other. */
  #busy: Promise<void> = Promise.resolve();
  /** How many approvals the page has taken. */
  signed = 0;

  constructor(world: {
    readonly workspace: Workspace;
    readonly store: Store;
    readonly ports: () => readonly number[];
    readonly publicUrl: string;
    readonly secret: string;
  }) {
    this.#workspace = world.workspace;
    this.#store = world.store;
    this.#ports = world.ports;
    this.#publicUrl = world.publicUrl;
    this.#key = new SoftwareKey(world.publicUrl);
    this.#sessions = new Sessions(new Cookies(world.secret, world.publicUrl), world.store);
  }

  /** Gives her a key that counts. */
  async enrol(): Promise<void> {
    const { id: credential, publicJwk: jwk } = this.#key;
    const key = { credential, jwk, origin: this.#publicUrl, rpId: new URL(this.#publicUrl).hostname };
    const added = { key, name: 'Phone', counter: 0, transports: [], addedAt: 0, countsFrom: 1 };
    await addPasskey(this.#store, CAST.alice, added, {});
  }

  /** Opens each link once that she has not seen. One whose worker dies is lost; a click on the card gives the next. */
  look(): void {
    const places = [
      ...this.#workspace.ephemeralsFor(CAST.alice),
      ...this.#workspace.messagesIn(this.#workspace.directMessages(CAST.alice)),
    ];
    for (const { text } of places) {
      const nonce = LINK.exec(text)?.[1];
      if (nonce === undefined || this.#seen.has(nonce)) continue;
      this.#seen.add(nonce);
      this.#busy = this.#busy.then(() => this.#sign(nonce)).catch(() => {});
    }
  }

  async #sign(nonce: string): Promise<void> {
    const ports = this.#ports();
    const port = ports[this.#seen.size % ports.length];
    const cookie = await this.#sessions.open(CAST.alice);
    const headers = { cookie: cookie.split(';')[0] ?? '', origin: this.#publicUrl };
    const api = `http://127.0.0.1:${port}/page/api`;
    const shown = await fetch(`${api}/approval/${nonce}`, { headers });
    // What was decided in the meantime has nothing to sign.
    if (!shown.ok) return;
    const { terms, challenge } = (await shown.json()) as {
      readonly terms: unknown;
      readonly challenge: string;
    };
    const body = JSON.stringify({ terms, ...this.#key.sign(challenge) });
    const answer = await fetch(`${api}/approve/${nonce}`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body,
    });
    if (answer.ok) this.signed += 1;
  }
}
