/** The playground was stopped before it was ready: what was asked for, and no trouble. */
export class StoppedError extends Error {
  override readonly name = 'StoppedError';

  constructor() {
    super('The playground was stopped before it was ready.');
  }
}
