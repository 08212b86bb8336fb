import { z } from 'zod';

/** The last read ts by person and by timeline key. */
export const savedReadPositions = z.record(z.string(), z.record(z.string(), z.string()));
export type SavedReadPositions = z.infer<typeof savedReadPositions>;

/** Returns the key of a timeline: the channel's id, or `<channel id>:<ts of a thread's root>`. */
export function timelineKey(channel: string, threadTs?: string): string {
  return threadTs === undefined ? channel : `${channel}:${threadTs}`;
}

/** Returns the last message a person has read in a timeline; empty, so before all others, when there is none. */
export function lastReadIn(reads: SavedReadPositions, userId: string, timeline: string): string {
  return reads[userId]?.[timeline] ?? '';
}

/** Read positions of everyone; a position never moves backwards. */
export class ReadPositions {
  readonly #saved: SavedReadPositions;
  readonly #listeners: (() => void)[] = [];

  constructor(saved: SavedReadPositions = {}) {
    this.#saved = structuredClone(saved);
  }

  get all(): SavedReadPositions {
    return this.#saved;
  }

  onRead(listener: () => void): void {
    this.#listeners.push(listener);
  }

  advance(userId: string, timeline: string, ts: string): void {
    if (ts <= lastReadIn(this.#saved, userId, timeline)) return;
    this.#saved[userId] = { ...this.#saved[userId], [timeline]: ts };
    for (const listener of this.#listeners) listener();
  }
}
