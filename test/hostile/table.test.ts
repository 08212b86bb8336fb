import { describe, expect, test } from 'vitest';
import { playArgumentBytes, playArguments } from './entries/arguments.ts';
import { playReportBytes, playReports } from './entries/callbacks.ts';
import { playPostedClicks, playSocketClicks } from './entries/clicks.ts';
import { playBrokenForms, playEdits, playForms, playQuestions } from './entries/forms.ts';
import { playOutputInjections, playThreadInjections } from './entries/injections.ts';
import { playManifests } from './entries/manifest.ts';
import { playCommands, playMessages } from './entries/speech.ts';
import { playSubmissions } from './entries/submissions.ts';
import { playDescriptions, playOutputBytes, playOutputs } from './entries/tools.ts';
import { type Entry, itemsFor, ROWS } from './table.ts';

type Played = Readonly<Partial<Record<Entry, ReadonlyMap<string, string>>>>;

const PLAYS: readonly [play: () => Promise<Played>, ...entries: Entry[]][] = [
  [playMessages, 'a message'],
  [playCommands, 'a slash command'],
  [playArguments, 'an argument and its name', "the model's words beside a call", 'the reason of a rejection'],
  [playArgumentBytes, 'the bytes of arguments'],
  [playEdits, 'a text in the edit form', 'JSON in the edit form'],
  [playQuestions, 'a question and its choices', 'an answer in own words'],
  [playForms, 'a form', 'a number in a form', 'a value in a form'],
  [playBrokenForms, 'a form that is no schema'],
  [
    playOutputs,
    'the output of a tool',
    'the error of a tool',
    'the progress of a tool',
    'the result of a task',
  ],
  [playOutputBytes, 'the bytes of an output'],
  [
    playDescriptions,
    'the description of a module',
    'the description of an HTTP tool',
    'the description of an MCP tool',
    'the name of an MCP tool',
    'the name of a tool that the model invents',
  ],
  [playReports, 'what a call-back is for', 'the text of a report'],
  [playReportBytes, 'the bytes of a report'],
  [
    playManifests,
    'the manifest, as it is',
    'the manifest, in escapes',
    'the name of a tool in the manifest',
    'the name of a policy in the manifest',
    'the bytes of the manifest',
  ],
  [playPostedClicks, 'a click over HTTP'],
  [playSubmissions, 'a modal submitted over HTTP'],
  [playSocketClicks, 'a click over a socket'],
  [playThreadInjections, 'an order in the thread'],
  [playOutputInjections, 'an order in the output of a tool'],
];

const rowsOf = (entry: Entry) => ROWS.filter((row) => row.entry === entry);

describe('everything hostile ends as the table says, nothing of it is alive, and the bot answers the next person', () => {
  test.each(PLAYS.map(([play, ...entries]) => ({ says: entries.join('; '), play, entries })))(
    '$says',
    async ({ play, entries }) => {
      const played = await play();
      for (const entry of entries) {
        const outcomes = played[entry] ?? new Map<string, string>();
        expect(outcomes.size).toBeGreaterThan(0);
        const expected = rowsOf(entry).filter(({ item }) => outcomes.has(item));
        expect({ entry, ...Object.fromEntries(outcomes) }).toEqual({
          entry,
          ...Object.fromEntries(expected.map(({ item, outcome }) => [item, outcome])),
        });
      }
    },
  );
});

test('the table has every item once at every entry, and every entry is played', () => {
  const entries = [...new Set(ROWS.map(({ entry }) => entry))];
  expect(PLAYS.flatMap(([, ...played]) => played).sort()).toEqual(entries.sort());
  for (const entry of entries) {
    const items = rowsOf(entry).map(({ item }) => item);
    expect(items.toSorted()).toEqual([...new Set(itemsFor(entry) ?? items)].sort());
  }
});
