import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { rowWords, titleInRow } from '../../src/page/row-words.ts';
import { nonEmpty } from '../support/non-empty.ts';

const SRC = fileURLToPath(new URL('../../src', import.meta.url));

/** The events that the scripts and the code write into the log. */
function eventsInSource(): string[] {
  const folders = ['store', 'engine', 'bot', 'door', 'commands', 'tools'];
  const files = folders.flatMap((folder) =>
    readdirSync(`${SRC}/${folder}`, { recursive: true, encoding: 'utf8' }).map(
      (path) => `${SRC}/${folder}/${path}`,
    ),
  );
  const events = files.flatMap((path) => {
    if (!/\.(?:lua|ts)$/.test(path)) return [];
    const text = readFileSync(path, 'utf8');
    const written = path.endsWith('.lua')
      ? text.matchAll(/audit\('([a-z-]+[a-z])'/g)
      : text.matchAll(/(?:store\.note\([^,]+, |\bevent: )'([a-z-]+)'/g);
    return [...written].map(([, event = '']) => event);
  });
  return [...new Set(events)];
}

const row = (event: string, detail = '', body = '', subject = 'C1:1~a') => ({ event, detail, body, subject });

test('every event that is written into the log has words', () => {
  const events = nonEmpty(eventsInSource());
  expect(events).toContain('voted');
  expect(events).toContain('passkey-confirmed');
  expect(events.filter((event) => rowWords(row(event)).words === event)).toEqual([]);
});

test.each([
  [row('asked', 'approval', '{"requesters":["U0REMI0001"]}'), { who: 'U0REMI0001', words: 'asked' }],
  [row('asked', 'approval', '{"requesters":["caller:job"]}'), { who: 'caller:job', words: 'asked' }],
  [row('voted', 'approve U0ALICE002 1 of 2'), { who: 'U0ALICE002', words: 'approved (1 of 2)' }],
  [
    row('voted', 'approve U0ALICE002 1 of 2', '{"proof":{}}'),
    { who: 'U0ALICE002', words: 'approved with a passkey (1 of 2)' },
  ],
  [row('approved', '2 of 2'), { words: 'Approved: quorum reached (2 of 2)' }],
  [row('started', 'try 2 6b1f'), { words: 'Started again (attempt 2)' }],
  [row('withdrawn', ''), { words: 'Withdrawn' }],
  [row('resolved', 'ran U0ALICE002'), { who: 'U0ALICE002', words: 'confirmed that it ran' }],
  [row('configured', '', '{}', 'manifest.yml'), { words: 'The manifest was changed on the server' }],
  [row('of-another-version'), { words: 'of-another-version' }],
  [row('asked', '', 'not json'), { words: 'Asked' }],
])('%j is told as %j', (given, told) => {
  expect(rowWords(given)).toEqual(told);
});

test('the title of a request is in the row that begins it, and in no other', () => {
  expect(titleInRow(row('asked', '', '{"title":"Refund A-1001"}'))).toBe('Refund A-1001');
  expect(titleInRow(row('asked', '', '{"tool":"refund_order"}'))).toBe('refund_order');
  expect(titleInRow(row('voted', '', '{"title":"Refund A-1001"}'))).toBeUndefined();
});
