/** The server has room for a thousand connections, and Slack needs some. */
const MOST_WAITING = 600;
const MOST_OF_A_CALLER = 100;

/** Counts the requests that wait for people, so that they leave room for others, and those of one caller for other callers. */
export class WaitingPlaces {
  readonly #taken = new Map<string, number>();
  #all = 0;

  /** Takes a place and returns how it is given back; `undefined` if there is none. */
  take(caller: string): (() => void) | undefined {
    const taken = this.#taken.get(caller) ?? 0;
    if (this.#all >= MOST_WAITING || taken >= MOST_OF_A_CALLER) return undefined;
    this.#add(caller, 1);
    return () => this.#add(caller, -1);
  }

  #add(caller: string, change: 1 | -1): void {
    const taken = (this.#taken.get(caller) ?? 0) + change;
    if (taken === 0) this.#taken.delete(caller);
    else this.#taken.set(caller, taken);
    this.#all += change;
  }
}
