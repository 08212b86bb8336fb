/** Passes what happens on to those who listen. It exists before them; what happens before somebody listens is told to nobody. */
export class Listeners<Event = void> {
  readonly #listeners: ((event: Event) => void)[] = [];
  readonly emit = (event: Event): void => {
    for (const listener of this.#listeners) listener(event);
  };

  add(listener: (event: Event) => void): void {
    this.#listeners.push(listener);
  }
}
