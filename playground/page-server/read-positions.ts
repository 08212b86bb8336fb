import { z } from 'zod';

/** How far each person has read, by person and by place: a channel's id, or `<channel id>:<ts of a thread's root>`. */
export const savedReads = z.record(z.string(), z.record(z.string(), z.string()));
export type SavedReads = z.infer<typeof savedReads>;

/** What `reads()` of a page server gave, read back from a file. */
export function parseSavedReads(file: unknown): SavedReads {
  const parsed = savedReads.safeParse(file);
  if (parsed.success) return parsed.data;
  throw new Error('What was saved of who has read what is broken: repair it, or begin anew with --reset.', {
    cause: parsed.error,
  });
}

/** The name of a place in what is saved. */
export function placeName(channel: string, threadTs?: string): string {
  return threadTs === undefined ? channel : `${channel}:${threadTs}`;
}

/** The last message a person has read in a place; empty, and so before all others, when they have read none. */
export function lastReadIn(reads: SavedReads, userId: string, place: string): string {
  return reads[userId]?.[place] ?? '';
}

/** Who has read what; it never goes backwards. */
export class Reads {
  readonly #saved: SavedReads;
  readonly #listeners: (() => void)[] = [];

  constructor(saved: SavedReads = {}) {
    this.#saved = structuredClone(saved);
  }

  get all(): SavedReads {
    return this.#saved;
  }

  onRead(listener: () => void): void {
    this.#listeners.push(listener);
  }

  note(userId: string, place: string, ts: string): void {
    if (ts <= lastReadIn(this.#saved, userId, place)) return;
    this.#saved[userId] = { ...this.#saved[userId], [place]: ts };
    for (const listener of this.#listeners) listener();
  }
}
