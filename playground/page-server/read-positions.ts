import { z } from 'zod';

/** How far each person has read, by person and by place: a channel's id, or `<channel id>:<ts of a thread's root>`. */
export const savedReadPositions = z.record(z.string(), z.record(z.string(), z.string()));
export type SavedReadPositions = z.infer<typeof savedReadPositions>;

/** The name of a place in what is saved. */
export function timelineKey(channel: string, threadTs?: string): string {
  return threadTs === undefined ? channel : `${channel}:${threadTs}`;
}

/** The last message a person has read in a place; empty, and so before all others, when they have read none. */
export function lastReadIn(reads: SavedReadPositions, userId: string, timeline: string): string {
  return reads[userId]?.[timeline] ?? '';
}

/** Who has read what; it never goes backwards. */
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
