import type { TestProjectInlineConfiguration, ViteUserConfig } from 'vitest/config';
import { ClosingLineReporter } from './closing-line-reporter.ts';
import { type Form, isPlayed, type ProjectName, projectOf, TEST_FILES } from './forms.ts';
import { PATIENCE_MS } from './patience.ts';
import { seed } from './seed.ts';
import { SharedLastSequencer } from './shared-last-sequencer.ts';

/** Ends a test that hangs. What is slow is waited for: other work may share the machine. */
const HANGS_AFTER_MS = { quick: 600_000, full: 1_800_000 } as const;

/** The configuration of Vitest for one form of the tests. */
export function configureTests(form: Form): ViteUserConfig {
  const project = (
    name: ProjectName,
    changes: TestProjectInlineConfiguration['test'] = {},
  ): TestProjectInlineConfiguration => ({
    test: {
      name,
      include: TEST_FILES.filter((file) => projectOf(file) === name && isPlayed(form, file)),
      pool: 'forks',
      testTimeout: HANGS_AFTER_MS[form],
      hookTimeout: HANGS_AFTER_MS[form],
      expect: { poll: { timeout: PATIENCE_MS } },
      env: { COUNTERSIGN_TESTS: form, COUNTERSIGN_SEED: `${seed}` },
      setupFiles: ['test/support/seed-random-tests.ts'],
      sequence: { groupOrder: 0 },
      ...changes,
    },
  });
  const projects = [
    project('isolated'),
    // Loading the code anew for every file takes longer than most files do, so these share what a process has loaded.
    project('shared', { isolate: false }),
    // A project of its own, because Vitest runs a project's set-up, the search for a browser, only when it has tests to run.
    project('browser', { globalSetup: ['test/browser/global-setup.ts'] }),
    // What all stories together have used is known when they are over.
    project('last', { sequence: { groupOrder: 1 } }),
  ];
  return {
    test: {
      // The full form, and every further run, reads the modules that an earlier run has transformed.
      experimental: { fsModuleCache: true },
      globalSetup: ['test/support/global-setup.ts'],
      // Most tests wait for sockets and processes; two cores carry four of them.
      maxWorkers: 4,
      reporters: ['default', new ClosingLineReporter(seed)],
      sequence: { sequencer: SharedLastSequencer },
      projects: projects.filter(({ test }) => (test?.include ?? []).length > 0),
    },
  };
}
