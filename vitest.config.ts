import { defineConfig } from 'vitest/config';
import { ClosingLineReporter } from './test/support/closing-line-reporter.ts';

const shared = { pool: 'forks', testTimeout: 30_000, hookTimeout: 30_000 } as const;

// biome-ignore lint/style/noDefaultExport: Vitest reads the default export.
export default defineConfig({
  test: {
    globalSetup: ['test/support/global-setup.ts'],
    // Most tests wait for sockets and processes; two cores carry three of them.
    maxWorkers: 3,
    reporters: ['default', new ClosingLineReporter()],
    projects: [
      {
        test: {
          ...shared,
          name: 'all',
          include: ['test/**/*.test.ts'],
          exclude: ['test/last/**', 'test/browser/**'],
          sequence: { groupOrder: 0 },
        },
      },
      // A project of its own, because Vitest runs a project's set-up, the search for a browser, only when it has tests to run.
      {
        test: {
          ...shared,
          name: 'browser',
          include: ['test/browser/*.test.ts'],
          globalSetup: ['test/browser/global-setup.ts'],
          testTimeout: 240_000,
          hookTimeout: 240_000,
          sequence: { groupOrder: 0 },
        },
      },
      // What all stories together have used is known when they are over.
      { test: { ...shared, name: 'last', include: ['test/last/*.test.ts'], sequence: { groupOrder: 1 } } },
    ],
  },
});
