/** Every sentence about actions that callers run themselves. */
export const callerTexts = {
  notStarted: (caller: string) => `${caller} did not start it in time, so it did not run.`,
  waitsFor: (caller: string) => `${caller} can run it now and then reports the outcome.`,
  runs: (caller: string) => `${caller} runs it now and then reports the outcome.`,
} as const;
