import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/agent/json.ts';
import type { McpServer } from '../../../src/tools/mcp/open-mcp-server.ts';
import { type Elicitation, elicitationOf, type PauseEnd } from '../../../src/tools/mcp/server-pause.ts';
import { buildModule } from '../../support/build-module.ts';
import { SIGN_IN_URL } from './fixtures/asking-tools.ts';
import { call, nodeConfig, open, temporaryFolder } from './support.ts';

const scripts = {
  current: await buildModule(fileURLToPath(new URL('fixtures/asking-server.ts', import.meta.url))),
  older: await buildModule(fileURLToPath(new URL('fixtures/older-asking-server.ts', import.meta.url))),
};

async function start(protocol: keyof typeof scripts) {
  const file = join(temporaryFolder(), 'notes');
  const { server } = await open(nodeConfig([scripts[protocol], file]));
  const notes = () => readFileSync(file, 'utf8').trim().split('\n').slice(1);
  return { server, notes };
}

class Paused extends Error {
  readonly metadata: JsonObject;
  constructor(metadata: JsonObject) {
    super('paused');
    this.metadata = metadata;
  }
}

/** Calls a tool until it pauses or ends; a pause comes back as JSON, as the record would return it. */
async function play(server: McpServer, name: string, resumed?: { pause: Elicitation; end: PauseEnd }) {
  const interrupt = (metadata: object = {}): never => {
    throw new Paused(JSON.parse(JSON.stringify(metadata)));
  };
  const given = resumed && JSON.parse(JSON.stringify({ decision: 'answered', mcp: resumed }));
  try {
    return {
      answer: await call(server, name, { day: 'Monday' }, { interrupt, resumed: given }),
      pause: undefined,
    };
  } catch (error) {
    if (!(error instanceof Paused)) throw error;
    return { answer: undefined, pause: elicitationOf(error) };
  }
}

/** Plays a call and answers its questions one after another. */
async function playOut(server: McpServer, name: string, ends: readonly PauseEnd[]) {
  const asked: string[] = [];
  let played = await play(server, name);
  for (const end of ends) {
    const { pause } = played;
    if (pause === undefined) throw new Error(`only ${asked.length} questions were asked`);
    asked.push(pause.question.message);
    played = await play(server, name, { pause, end });
  }
  return { asked, ...played };
}

const remi = { action: 'accept' as const, content: { name: 'Remi', guests: 3 } };
const window = { action: 'accept' as const, content: { seat: 'window' } };

describe.each(['current', 'older'] as const)('a server of the %s protocol', (protocol) => {
  test('that asks pauses the call, and gets the answer when it is made again', async () => {
    const { server, notes } = await start(protocol);
    const { pause } = await play(server, 'book_table');
    expect(pause).toMatchObject({
      server: 'tried',
      question: { mode: 'form', message: 'Who is coming?', schema: { required: ['name', 'guests'] } },
    });
    expect(notes().join()).not.toContain('booked');
    const { answer } = await playOut(server, 'book_table', [remi]);
    expect(answer).toBe('booked: accept Remi 3');
    expect(notes()).toContain('booked Monday accept Remi 3');
  });

  test('hears that a person declined, and the model is told', async () => {
    const { server } = await start(protocol);
    const { answer } = await playOut(server, 'book_table', [{ action: 'decline' }]);
    expect(answer).toMatch(/^\[The person who was asked declined.*\]\nbooked: decline$/);
  });

  test('asks twice in one call', async () => {
    const { server, notes } = await start(protocol);
    const { asked, answer } = await playOut(server, 'plan_trip', [remi, window]);
    expect(asked).toEqual(['Who travels?', 'Which seat?']);
    expect(answer).toBe('planned: accept Remi 3, accept window');
    expect(notes().filter((line) => line.startsWith('planned'))).toHaveLength(1);
  });

  test('asks nobody for a secret in a form, and that is said', async () => {
    const { server } = await start(protocol);
    const { answer, pause } = await play(server, 'steal');
    expect(pause).toBeUndefined();
    expect(answer).toMatch(/nobody was asked: its form asks for a secret \("apiKey"\).*\nkey: decline$/s);
  });

  test('gets an address opened by a person, and nothing here opens it', async () => {
    const { server } = await start(protocol);
    const { pause } = await play(server, 'sign_in');
    expect(pause?.question).toEqual({ mode: 'url', message: 'Please sign in.', url: SIGN_IN_URL });
    if (pause === undefined) throw new Error('no pause');
    const { answer } = await play(server, 'sign_in', { pause, end: { action: 'accept' } });
    expect(answer).toBe(protocol === 'current' ? 'page: accept' : 'signed in');
  });

  test('does not get an answer that was given for another definition of the tool', async () => {
    const { server } = await start(protocol);
    const { pause } = await play(server, 'book_table');
    if (pause === undefined) throw new Error('no pause');
    const changed = { ...pause, definition: 'another' };
    await expect(play(server, 'book_table', { pause: changed, end: remi })).rejects.toThrow(
      /has changed "book_table" since it asked/,
    );
  });
});

describe('a server of the current protocol', () => {
  test('is told cancel with the reason when nobody answers', async () => {
    const { server } = await start('current');
    const withdrawn = await playOut(server, 'book_table', [{ action: 'withdrawn' }]);
    expect(withdrawn.answer).toMatch(/withdrawn.*\]\nbooked: cancel withdrawn$/s);
    const expired = await playOut(server, 'plan_trip', [remi, { action: 'expired' }]);
    expect(expired.answer).toMatch(/in time.*\]\nplanned: accept Remi 3, cancel expired$/s);
  });

  test('asks again after an answer; only the latest state and answers go back', async () => {
    const { server } = await start('current');
    const { asked, answer } = await playOut(server, 'plan_stay', [remi, window]);
    expect(asked).toEqual(['Who stays?', 'Which bed?']);
    expect(answer).toBe('stay: then accept Remi 3, seat accept window');
  });

  test('gets its state back only as it was', async () => {
    const { server, notes } = await start('current');
    const { pause } = await play(server, 'book_table');
    if (pause?.call.protocol !== 'current') throw new Error('no pause');
    const redacted = { ...pause, call: { ...pause.call, requestState: 'with ***' } };
    await expect(play(server, 'book_table', { pause: redacted, end: remi })).rejects.toThrow(/held a secret/);
    expect(notes()).toHaveLength(1);
  });
});

describe('a server of an older protocol', () => {
  test('is told cancel at once, so that its call ends, and starts the call anew after the answer', async () => {
    const { server, notes } = await start('older');
    const { pause } = await play(server, 'book_table');
    expect(pause?.call).toMatchObject({ protocol: 'older', ending: 'not booked' });
    expect(notes()).toEqual(['called book_table Monday', 'heard cancel']);
  });

  test('that asks while several calls run is told cancel, and gets one call at a time from then on', async () => {
    const { server, notes } = await start('older');
    const both = await Promise.all([play(server, 'book_table'), play(server, 'book_table')]);
    expect(both.map(({ answer }) => answer)).toEqual([
      expect.stringContaining('several calls'),
      expect.stringContaining('several calls'),
    ]);
    const again = await Promise.all([play(server, 'book_table'), play(server, 'plan_trip')]);
    expect(again.map(({ pause }) => pause?.question.message)).toEqual(['Who is coming?', 'Who travels?']);
    expect(notes().filter((line) => line.startsWith('booked'))).toEqual([]);
  });
});
