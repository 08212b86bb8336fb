import type { Reporter, SerializedError, TestCase, TestModule } from 'vitest/node';

/** The most characters of an error that the list of failures shows: a random test's error has its whole counterexample. */
const MOST_OF_AN_ERROR = 500;

/**
 * Ends a run with one line for each failure, the seed and the line `<n> passed, <n> failed, <n> skipped`. An error outside any test counts as a failure.
 * The end of a long log is what CI shows of it.
 */
export class ClosingLineReporter implements Reporter {
  readonly #seed: number;

  constructor(seed: number) {
    this.#seed = seed;
  }

  onTestRunEnd(testModules: readonly TestModule[], unhandledErrors: readonly SerializedError[]): void {
    const tests = testModules.flatMap(({ children }) => [...children.allTests()]);
    const count = (state: string) => tests.filter((test) => test.result().state === state).length;
    const failures = [
      ...unhandledErrors.map((error) => describeFailure('outside any test', [error])),
      // Otherwise a file that cannot be loaded, or a hook that throws, would leave a red run with "0 failed".
      ...testModules.flatMap((testModule) =>
        [testModule, ...testModule.children.allSuites()].flatMap((place) =>
          place.errors().map((error) => describeFailure(testModule.relativeModuleId, [error])),
        ),
      ),
      ...tests.filter((test) => test.result().state === 'failed').map(describeTest),
    ];
    const passed = count('passed');
    const skipped = tests.length - passed - count('failed');
    const seed = `Seed of the random tests: COUNTERSIGN_SEED=${this.#seed}`;
    const line = `${passed} passed, ${failures.length} failed, ${skipped} skipped`;
    process.stdout.write(`${[...failures, seed, line].join('\n')}\n`);
  }
}

function describeTest(test: TestCase): string {
  return describeFailure(`${test.module.relativeModuleId} > ${test.fullName}`, test.result().errors ?? []);
}

function describeFailure(where: string, errors: readonly SerializedError[]): string {
  const text = errors.map(({ message }) => message.replaceAll(/\s+/g, ' ')).join('; ');
  return `failed: ${where}: ${text.slice(0, MOST_OF_AN_ERROR)}`;
}
