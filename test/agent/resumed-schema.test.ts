import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { DefinitionError, defineTool, generate, type JsonObject, ReplyError } from '../../src/index.ts';
import { call, calls, rejection, says, scripted, stored, waiting } from './support.ts';

/** Pauses a booking that wants a decision, and keeps everything that its function was resumed with. */
async function pauseBooking() {
  const resumedWith: unknown[] = [];
  const book = defineTool(
    {
      name: 'book',
      description: 'Books a room.',
      resumedSchema: z.strictObject({
        status: z.enum(['APPROVED', 'REJECTED']),
        seats: z.number().default(4),
      }),
    },
    (_input, { resumed, interrupt }) => {
      if (resumed === undefined) return interrupt({ message: 'Book it?' });
      resumedWith.push(resumed);
      return resumed.status;
    },
  );
  const { model } = await scripted(calls(call('c1', 'book')));
  const paused = await generate({ model, tools: [book], prompt: 'Book a room' });
  const resume = (metadata: JsonObject, next = model) => {
    const reply = book.restart(waiting(paused, 'c1'), { status: 'APPROVED' });
    const restart = [stored({ ...reply, metadata: { ...reply.metadata, resumed: metadata } })];
    return generate({ model: next, tools: [book], messages: paused.messages, resume: { restart } });
  };
  return { book, interrupt: waiting(paused, 'c1'), resume, resumedWith };
}

describe('a tool with a schema of what it is resumed with', () => {
  it('gets the value of the schema, with who answered and when beside it', async () => {
    const { resume, resumedWith } = await pauseBooking();
    const { model } = await scripted(says('Done.'));
    const response = await resume({ status: 'APPROVED', by: 'U1', at: '2026-01-01T00:00:00Z' }, model);
    expect(response.text).toBe('Done.');
    expect(resumedWith).toEqual([{ status: 'APPROVED', seats: 4, by: 'U1', at: '2026-01-01T00:00:00Z' }]);
  });

  it.each([
    [
      '{"status":"MAYBE"}',
      'status',
      /^Tool "book", call c1: the metadata does not fit the resumed schema at/,
    ],
    ['{"status":"APPROVED","seats":"many"}', 'seats', /expected number/],
    ['{}', 'status', /at "status"/],
    ['{"status":"APPROVED","else":1}', '', /Unrecognized key: "else"/],
  ])('refuses %s where the reply is made, and where it is used', async (json, field, message) => {
    const { book, interrupt, resume, resumedWith } = await pauseBooking();
    const refusal = { code: 'invalid-metadata', tool: 'book', ref: 'c1', field };
    const make = () => book.restart(interrupt, JSON.parse(json));
    expect(make).toThrow(ReplyError);
    expect(make).toThrow(expect.objectContaining({ ...refusal, message: expect.stringMatching(message) }));
    expect(await rejection(resume(JSON.parse(json)))).toMatchObject(refusal);
    expect(resumedWith).toEqual([]);
  });

  it('has its JSON Schema on the tool, for who asks people', async () => {
    const { book } = await pauseBooking();
    expect(book.resumedSchema?.jsonSchema).toMatchObject({
      properties: { status: { enum: ['APPROVED', 'REJECTED'] } },
    });
    expect(defineTool({ name: 'free', description: '' }, () => null).resumedSchema).toBeUndefined();
  });

  it('may choose between objects', () => {
    const resumedSchema = z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('room'), room: z.string() }),
      z.object({ kind: z.literal('none') }),
    ]);
    const pick = defineTool({ name: 'pick', description: '', resumedSchema }, () => null);
    const interrupt = { id: 'p1', toolRequest: { name: 'pick', ref: 'c1', input: {} } };
    expect(pick.restart(interrupt, { kind: 'none', by: 'U1' }).metadata.resumed).toEqual({
      kind: 'none',
      by: 'U1',
    });
  });

  it('is refused if the schema describes no object', () => {
    const define = () => defineTool({ name: 'book', description: '', resumedSchema: z.string() }, () => null);
    expect(define).toThrow(DefinitionError);
    expect(define).toThrow('Tool "book": its resumedSchema must describe an object');
  });
});

it('a restart that only opens a gate is the first run of the function', async () => {
  const { book } = await pauseBooking();
  const gated = {
    ...book,
    admit: async (input: Record<never, never>, helpers: Parameters<typeof book.run>[1]) => {
      if (helpers.resumed?.decision !== 'approved') return helpers.interrupt({ gate: true });
      return () => book.run(input, helpers);
    },
  };
  const { model } = await scripted(calls(call('c1', 'book')));
  const paused = await generate({ model, tools: [gated], prompt: 'Book a room' });
  const reply = book.restart(waiting(paused, 'c1'), { status: 'APPROVED' });
  const restart = [{ ...reply, metadata: { ...reply.metadata, resumed: { decision: 'approved' } } }];
  const again = await generate({ model, tools: [gated], messages: paused.messages, resume: { restart } });
  const asked = [paused, again].map((response) => waiting(response, 'c1').metadata);
  expect(asked).toEqual([{ gate: true }, { message: 'Book it?' }]);
});
