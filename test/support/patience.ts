/** Bounds a wait for what must come. Other work may share the machine, so that only a hang takes so long. */
export const PATIENCE_MS = 60_000;

/** Timings of a Slack that waits as long as a busy machine takes; a test about Slack's three seconds sets its own. */
export const PATIENT_SLACK = { acknowledgement: PATIENCE_MS, triggerLife: PATIENCE_MS } as const;
