type Stop = () => Promise<void>;

/** Opened resources; `close` closes them in reverse order, and nothing is opened after that. */
export class Resources {
  readonly #stops: Stop[] = [];
  #closing: Promise<void> | undefined;

  /** Opens a resource and registers how to close it; the order is that of the calls. */
  async open<Opened>(open: () => Promise<Opened>, stop: (opened: Opened) => Promise<void>): Promise<Opened> {
    if (this.#closing !== undefined) throw new Error('The playground is being stopped.');
    const opening = open();
    this.#stops.push(async () => {
      const opened = await opening.then(
        (value) => ({ value }),
        () => undefined,
      );
      if (opened !== undefined) await stop(opened.value);
    });
    return await opening;
  }

  /** Closes everything once; failures do not keep the rest open and are thrown at the end. */
  close(): Promise<void> {
    this.#closing ??= this.#closeAll();
    return this.#closing;
  }

  async #closeAll(): Promise<void> {
    const failures: string[] = [];
    for (let stop = this.#stops.pop(); stop !== undefined; stop = this.#stops.pop()) {
      try {
        await stop();
      } catch (error) {
        failures.push(error instanceof Error ? error.message : String(error));
      }
    }
    if (failures.length > 0)
      throw new Error(`Not everything could be stopped in order: ${failures.join('; ')}.`);
  }
}

/** The playground was stopped before it was ready, as requested. */
export class StoppedError extends Error {
  override readonly name = 'StoppedError';

  constructor() {
    super('The playground was stopped before it was ready.');
  }
}
