import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

// biome-ignore lint/style/noDefaultExport: Vite reads the default export.
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  // Always a production build: tests set another NODE_ENV.
  define: { 'process.env.NODE_ENV': JSON.stringify('production') },
  esbuild: { jsx: 'automatic', jsxDev: false },
  build: {
    ...{ outDir: 'dist', emptyOutDir: true, target: 'es2022', chunkSizeWarningLimit: 1500 },
    rollupOptions: {
      input: ['index.html', 'src/software-key/software-key.ts'].map((path) =>
        fileURLToPath(new URL(path, import.meta.url)),
      ),
      output: {
        // The playground adds this one to the bot's own page, by its name.
        entryFileNames: ({ name }) => (name === 'software-key' ? '[name].js' : 'assets/[name]-[hash].js'),
      },
    },
  },
});
