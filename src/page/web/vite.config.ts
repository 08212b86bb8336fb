import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

// biome-ignore lint/style/noDefaultExport: Vite reads the default export.
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  // The server says where the page is.
  base: './',
  define: { 'process.env.NODE_ENV': JSON.stringify('production') },
  esbuild: { jsx: 'automatic', jsxDev: false },
  build: { outDir: 'dist', emptyOutDir: true, target: 'es2022', modulePreload: { polyfill: false } },
});
