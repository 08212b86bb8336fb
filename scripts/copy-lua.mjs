import { cpSync } from 'node:fs';

// The compiler does not copy the Lua scripts, which the store reads next to its own files.
cpSync('src/store/lua', 'dist/store/lua', { recursive: true });
