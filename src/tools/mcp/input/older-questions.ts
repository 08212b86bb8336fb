import type { Client } from '@modelcontextprotocol/client';
import type { InputResponse } from '../server-pause.ts';
import type { InputDialog } from './input-dialog.ts';

const SEVERAL =
  'The server asked for input while several calls of it ran, so it was told to cancel; make the call again, and no other beside it.';

/**
 * Hands the questions of an older server to the call that they belong to. The protocol does not say which that is, so a server that has
 * asked while several calls ran gets one call at a time from then on.
 */
export class OlderQuestions {
  readonly #running = new Set<InputDialog>();
  #isOneByOne = false;
  #last: Promise<unknown> = Promise.resolve();

  constructor(client: Client) {
    client.setRequestHandler('elicitation/create', ({ params }) => ({ ...this.#respond(params) }));
  }

  /** Runs a call; questions that arrive meanwhile are its own. */
  run<Result>(dialog: InputDialog, call: () => Promise<Result>): Promise<Result> {
    const work = this.#isOneByOne
      ? this.#last.then(() => this.#watch(dialog, call))
      : this.#watch(dialog, call);
    this.#last = Promise.allSettled([this.#last, work]);
    return work;
  }

  async #watch<Result>(dialog: InputDialog, call: () => Promise<Result>): Promise<Result> {
    this.#running.add(dialog);
    try {
      return await call();
    } finally {
      this.#running.delete(dialog);
    }
  }

  #respond(params: unknown): InputResponse {
    const [only, other] = this.#running;
    if (only !== undefined && other === undefined) return only.respond(params);
    this.#isOneByOne = true;
    for (const dialog of this.#running) dialog.notes.push(SEVERAL);
    return { action: 'cancel' };
  }
}
