import { readFileSync } from 'node:fs';
import { type Message, userMessage } from '../../src/index.ts';
import { stored } from './support.ts';

/** A thread as version 1 stored it. */
export const fixture: Message[] = stored(
  JSON.parse(readFileSync(new URL('./fixtures/messages.v1.json', import.meta.url), 'utf8')),
);

/** A thread as version 2 stored it. */
export const second: Message[] = stored(
  JSON.parse(readFileSync(new URL('./fixtures/messages.v2.json', import.meta.url), 'utf8')),
);

/** Messages of version 1: a prompt, a call, its pause, and an answer. */
export const hi = userMessage('Hi');
export const made = (ref: string, name = 'look'): Message => ({
  v: 1,
  role: 'model',
  content: [{ toolRequest: { name, ref, input: { key: 'a' } }, idempotencyKey: ref }],
});
export const pause = (ref: string): Message => ({
  v: 1,
  role: 'tool',
  content: [{ interrupt: { id: 'p1', toolRequest: { name: 'look', ref, input: { key: 'a' } } } }],
});
export const answer: Message = { v: 1, role: 'model', content: [{ text: 'Yes.' }] };
