import type { Reporter, SerializedError, TestModule } from 'vitest/node';

/** Ends a run with its seed and the line `<n> passed, <n> failed, <n> skipped`; an error outside any test counts as a failure. */
export class ClosingLineReporter implements Reporter {
  readonly #seed: number;

  constructor(seed: number) {
    this.#seed = seed;
  }

  onTestRunEnd(testModules: readonly TestModule[], unhandledErrors: readonly SerializedError[]): void {
    process.stdout.write(`Seed of the random tests: COUNTERSIGN_SEED=${this.#seed}\n`);
    process.stdout.write(`${closingLine(testModules, unhandledErrors)}\n`);
  }
}

function closingLine(
  testModules: readonly TestModule[],
  unhandledErrors: readonly SerializedError[],
): string {
  let passed = 0;
  // Otherwise a file that cannot be loaded, or a hook that throws, would leave a red run with "0 failed".
  let failed = unhandledErrors.length;
  let skipped = 0;
  for (const testModule of testModules) {
    for (const place of [testModule, ...testModule.children.allSuites()]) failed += place.errors().length;
    for (const test of testModule.children.allTests()) {
      const { state } = test.result();
      if (state === 'passed') passed += 1;
      else if (state === 'failed') failed += 1;
      else skipped += 1;
    }
  }
  return `${passed} passed, ${failed} failed, ${skipped} skipped`;
}
