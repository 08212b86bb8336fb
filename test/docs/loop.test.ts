import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { GenerateOptions, ModelConfig, ModelFinish, ModelReply, ModelRequest } from '../../src/index.ts';

/** Lists keys that the compiler compares with the type: none can be missing, and none too many. */
const keysOf = <Keys extends string>(keys: Record<Keys, true>) => Object.keys(keys);

const page = readFileSync(new URL('../../docs/loop.md', import.meta.url), 'utf8');
const section = page.slice(page.indexOf('## Options of `generate`'), page.indexOf('## What comes back'));
const rowOf = (name: string) => section.split('\n').find((line) => line.startsWith(`| ${name} |`)) ?? '';

test.each([
  [
    'option of generate',
    section,
    keysOf<keyof GenerateOptions>({
      model: true,
      system: true,
      prompt: true,
      messages: true,
      tools: true,
      context: true,
      resume: true,
      outputSchema: true,
      toolChoice: true,
      maxSteps: true,
      contextBudget: true,
      config: true,
      signal: true,
      onText: true,
      onProgress: true,
      onToolError: true,
      journal: true,
      files: true,
    }),
  ],
  [
    'parameter of a model',
    rowOf('`config`'),
    keysOf<keyof ModelConfig>({
      temperature: true,
      topP: true,
      maxOutputTokens: true,
      reasoningEffort: true,
      verbosity: true,
      parallelToolCalls: true,
      serviceTier: true,
    }),
  ],
  [
    'member of a request to a model',
    rowOf('request'),
    keysOf<keyof ModelRequest>({
      system: true,
      history: true,
      tools: true,
      signal: true,
      onText: true,
      config: true,
      toolChoice: true,
      outputSchema: true,
    }),
  ],
  [
    'member of a reply of a model',
    rowOf('reply'),
    keysOf<keyof ModelReply>({
      finish: true,
      text: true,
      calls: true,
      usage: true,
      model: true,
      provider: true,
      error: true,
    }),
  ],
  [
    'end of a reply of a model',
    rowOf('`finish`'),
    keysOf<ModelFinish>({
      stop: true,
      length: true,
      'content-filter': true,
      refusal: true,
      cut: true,
      empty: true,
      aborted: true,
    }),
  ],
])('docs/loop.md lists every %s', (_what, text, names) => {
  expect(names.filter((name) => !text.includes(`\`${name}\``))).toEqual([]);
  expect(names).not.toEqual([]);
});
