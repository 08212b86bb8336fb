import { useSyncExternalStore } from 'react';
import type { LogPart, LogRow, Refusal } from '../../protocol.ts';

/** The answer of the page's server: a value with when it came, or a sentence that says why there is none. */
export type Loaded<Value> =
  | { readonly state: 'loading' }
  | { readonly state: 'loaded'; readonly value: Value; readonly at: number }
  | { readonly state: 'failed'; readonly status: number; readonly error: string };

/** Asks the page's server; the address is below the page. */
export async function ask<Value>(path: string, body?: object): Promise<Loaded<Value>> {
  try {
    const response = await fetch(new URL(`api/${path}`, document.baseURI), {
      ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
      headers: { accept: 'application/json' },
    });
    const answer: unknown = await response.json();
    if (response.ok) return { state: 'loaded', value: answer as Value, at: Date.now() };
    if (response.status === 401) endSession();
    return { state: 'failed', status: response.status, error: (answer as Refusal).error };
  } catch {
    return { state: 'failed', status: 0, error: "The bot can't be reached. Try again." };
  }
}

let hasEnded = false;
const listeners = new Set<() => void>();

function endSession(): void {
  hasEnded = true;
  for (const listener of listeners) listener();
}

/** Tells whether the person is signed in no more. */
export function useSessionEnd(): boolean {
  return useSyncExternalStore(subscribe, isSessionOver);
}

export function isSessionOver(): boolean {
  return hasEnded;
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Reads the rows of the log after its first part, a part at a time. */
export async function* readRows(first: LogPart, onRead: (rows: number) => void): AsyncGenerator<LogRow> {
  let part = first;
  let read = 0;
  for (;;) {
    yield* part.rows;
    read += part.rows.length;
    onRead(read);
    if (part.next === undefined) return;
    const loaded = await ask<LogPart>(`log?after=${part.next}`);
    if (loaded.state !== 'loaded') throw new Error(loaded.state === 'failed' ? loaded.error : '');
    part = loaded.value;
  }
}
