import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { nonEmpty } from '../../support/non-empty.ts';

const SRC = fileURLToPath(new URL('../../../src', import.meta.url));

/** Sentences that people did not understand, or that were not true; each has a better one. */
const REPLACED = [
  'it does not run, and your reason is passed on',
  'this action always needs it',
  "it is the requester's first call of this tool",
  'on record (',
  'When this was requested, no approver had a passkey',
  'the agent goes on',
  "It didn't run: the agent is told",
  'It ended without a clear answer after it may have taken effect',
  'The process that ran this stopped',
  'asked separately, the plan waits here',
  'run this itself:',
  'runs it itself, so Countersign cannot enforce',
  "You're not an approver for this request",
  'Not frozen: all actions',
  'On hold: everything is frozen',
  'ended without a word, five times in a row',
  'It counts when an admin has confirmed it',
  'counts now',
  'This link was used, or it is over',
  'Not here. There is no such page',
  'Sign in first.',
  'asked by manifest.yml',
  'it counts backwards',
  'Ended without an answer to',
  'If its server asks…',
  'has been reached',
] as const;

const sources = nonEmpty(
  readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((file) => /\.tsx?$/.test(file)),
).map((file) => ({ file, text: readFileSync(`${SRC}/${file}`, 'utf8') }));

/** The texts that a file can show: without its comments. */
function withoutComments(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/^\s*\/\/.*$/gm, '');
}

test.each(REPLACED)('no text says "%s"', (sentence) => {
  const found = sources.filter(({ text }) => withoutComments(text).includes(sentence));
  expect(found.map(({ file }) => file)).toEqual([]);
});
