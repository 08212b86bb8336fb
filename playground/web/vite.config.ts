import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

// biome-ignore lint/style/noDefaultExport: Vite reads the default export.
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  esbuild: { jsx: 'automatic' },
  build: { outDir: 'dist', emptyOutDir: true, target: 'es2022', chunkSizeWarningLimit: 1500 },
});
