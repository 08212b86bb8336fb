/** A command cannot go on; the message is one sentence for the person at the terminal. */
export class Failure extends Error {
  override readonly name = 'Failure';
}
