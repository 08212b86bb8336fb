/** A signal with listeners; `send` calls every listener once. */
export interface Signal {
  send(): void;
  subscribe(listener: () => void): () => void;
}

/** A signal without listeners. */
export function createSignal(): Signal {
  const listeners = new Set<() => void>();
  return {
    send: () => {
      for (const listener of [...listeners]) listener();
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
