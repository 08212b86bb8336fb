import { defineConfig } from 'vitest/config';
import { configureTests } from './test/support/configure-tests.ts';

// biome-ignore lint/style/noDefaultExport: Vitest reads the default export.
export default defineConfig(configureTests('quick'));
