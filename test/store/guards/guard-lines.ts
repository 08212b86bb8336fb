import { readdirSync, readFileSync } from 'node:fs';
import { loadScripts, type Scripts } from '../../../src/store/redis/scripts.ts';

const LUA = new URL('../../../src/store/lua/', import.meta.url);
const MARK = /-- guard: (\S+)$/gm;

/** The names of all guards in the Lua files, as often as they stand there. */
export function findGuards(): string[] {
  return readdirSync(LUA, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.lua'))
    .flatMap((file) => [...readFileSync(new URL(file, LUA), 'utf8').matchAll(MARK)])
    .map(([, name = '']) => name)
    .sort();
}

/** The scripts with one guard taken out: its condition never holds. */
export function scriptsWithout(guard: string): Scripts {
  const line = new RegExp(`^( *)if .+? then\\b(.*-- guard: ${guard})$`, 'm');
  const changed: string[] = [];
  const scripts = loadScripts((text) => {
    if (line.test(text)) changed.push(text);
    return text.replace(line, '$1if false then$2');
  });
  if (changed.length === 0) throw new Error(`No script has an "if" on the line of the guard "${guard}"`);
  return scripts;
}
