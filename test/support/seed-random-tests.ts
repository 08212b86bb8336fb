import fc from 'fast-check';
import { seed } from './seed.ts';

// Vitest runs this before every test file, also where files share a process.
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed });
