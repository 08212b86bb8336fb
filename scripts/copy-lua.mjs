import { cpSync } from 'node:fs';

// The compiler leaves the Lua scripts behind; the record reads them beside its own files.
cpSync('src/store/lua', 'dist/store/lua', { recursive: true });
