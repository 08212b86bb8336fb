/** Bounds a wait for what must come. Other work may share the machine, so that only a hang takes so long. */
export const PATIENCE_MS = 60_000;
