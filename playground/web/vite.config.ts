import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

// biome-ignore lint/style/noDefaultExport: Vite reads the default export.
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  // The page is the same whoever builds it: tests have a NODE_ENV of their own.
  define: { 'process.env.NODE_ENV': JSON.stringify('production') },
  esbuild: { jsx: 'automatic', jsxDev: false },
  build: { outDir: 'dist', emptyOutDir: true, target: 'es2022', chunkSizeWarningLimit: 1500 },
});
