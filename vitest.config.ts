import { defineConfig } from 'vitest/config';
import { ClosingLineReporter } from './test/support/closing-line-reporter.ts';
import { SharedLastSequencer } from './test/support/shared-last-sequencer.ts';

const common = { pool: 'forks', testTimeout: 30_000, hookTimeout: 30_000 } as const;

/** Each of these has a process of its own: they change its environment or settings, listen to all that it meets, or try what may break it. */
const APART = [
  'test/agent/openai/model-failures.test.ts',
  'test/faults/**/*.test.ts',
  'test/hostile/**/*.test.ts',
  'test/playground/start/playground.test.ts',
  'test/store/queue/engine.test.ts',
  'test/tools/mcp/**/*.test.ts',
];

// biome-ignore lint/style/noDefaultExport: Vitest reads the default export.
export default defineConfig({
  test: {
    globalSetup: ['test/support/global-setup.ts'],
    // Most tests wait for sockets and processes; two cores carry three of them.
    maxWorkers: 3,
    reporters: ['default', new ClosingLineReporter()],
    sequence: { sequencer: SharedLastSequencer },
    projects: [
      { test: { ...common, name: 'apart', include: APART, sequence: { groupOrder: 0 } } },
      // Loading the code anew for every file takes longer than most files do, so these share what a process has loaded.
      {
        test: {
          ...common,
          name: 'shared',
          isolate: false,
          include: ['test/**/*.test.ts'],
          exclude: [...APART, 'test/last/**', 'test/browser/**'],
          sequence: { groupOrder: 0 },
        },
      },
      // A project of its own, because Vitest runs a project's set-up, the search for a browser, only when it has tests to run.
      {
        test: {
          ...common,
          name: 'browser',
          include: ['test/browser/*.test.ts'],
          globalSetup: ['test/browser/global-setup.ts'],
          testTimeout: 240_000,
          hookTimeout: 240_000,
          sequence: { groupOrder: 0 },
        },
      },
      // What all stories together have used is known when they are over.
      { test: { ...common, name: 'last', include: ['test/last/*.test.ts'], sequence: { groupOrder: 1 } } },
    ],
  },
});
