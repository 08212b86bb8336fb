import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export function readText(path: string): string {
  return readFileSync(`${ROOT}/${path}`, 'utf8');
}

/** Every document of a YAML file; a mistake in the syntax throws. */
export function readDocuments(path: string): unknown[] {
  return parseAllDocuments(readText(path)).map((document) => {
    const [error] = document.errors;
    if (error !== undefined) throw error;
    return document.toJS();
  });
}

/** The names of all settings, as `.env.example` lists them. */
export const SETTINGS: ReadonlySet<string> = new Set(
  [...readText('.env.example').matchAll(/^([A-Z][A-Z0-9_]*)=/gm)].flatMap(([, name]) => name ?? []),
);

/** One instruction of a Dockerfile, with continued lines joined. */
export interface Instruction {
  readonly stage: number;
  readonly name: string;
  readonly value: string;
}

export function readDockerfile(path: string): Instruction[] {
  let stage = -1;
  return readText(path)
    .replace(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, name = '', value = ''] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? [];
      if (name === '') throw new Error(`Not an instruction: ${line}`);
      if (name === 'FROM') stage += 1;
      return { stage, name, value };
    });
}

/** The words of a command, written as JSON. */
export const Words = z.array(z.string()).min(1);
