import { z } from 'zod';
import {
  type BotToolContext,
  closeInterrupt,
  defineInterrupt,
  defineTool,
  generate,
  type Interrupt,
  type Message,
  type Model,
  parseMessage,
  settle,
  type ToolHelpers,
} from '../../src/index.ts';

/*
 * Samples that compile and samples that do not. Nothing here is ever run: `npm run typecheck` is the test, and an expected error that
 * does not come is itself an error.
 */

const refund = defineTool(
  {
    name: 'refund',
    description: 'refunds an order',
    inputSchema: z.object({ order: z.string(), cents: z.number(), at: z.coerce.date().optional() }),
    outputSchema: z.object({ receipt: z.string(), note: z.string().optional() }),
  },
  ({ order }) => ({ receipt: order }),
);
const askColour = defineInterrupt({
  name: 'askColour',
  description: 'asks for a colour',
  inputSchema: z.object({ colours: z.array(z.string()) }),
  outputSchema: z.enum(['red', 'blue']),
});
const fromElsewhere = defineTool(
  { name: 'fromElsewhere', description: 'a tool with a JSON Schema', inputSchema: { type: 'object' } },
  (input) => input.anything ?? null,
);

type Equal<Left, Right> =
  (<T>() => T extends Left ? 1 : 2) extends <T>() => T extends Right ? 1 : 2 ? true : false;
function expectType<_Holds extends true>(): void {}

/** Replies take what the schemas take, and nothing else. */
export function wrongRepliesDoNotCompile(
  refundPause: Interrupt<'refund', { order: string; cents: number }>,
  colourPause: Interrupt<'askColour', { colours: string[] }>,
): void {
  refund.respond(refundPause, { receipt: 'r1' });
  refund.respond(refundPause, { receipt: 'r1', note: 'late' });
  // @ts-expect-error the output lacks its receipt
  refund.respond(refundPause, { note: 'late' });
  // @ts-expect-error the output is no object
  refund.respond(refundPause, 'r1');
  // @ts-expect-error an output is required
  refund.respond(refundPause);
  askColour.respond(colourPause, 'red');
  // @ts-expect-error the answer is none of the choices of the schema
  askColour.respond(colourPause, 'green');

  refund.restart(refundPause);
  refund.restart(refundPause, { approvedBy: ['U1'] });
  refund.restart(refundPause, {}, { replaceInput: { order: 'o1', cents: 5 } });
  // @ts-expect-error the new input has cents as a text
  refund.restart(refundPause, {}, { replaceInput: { order: 'o1', cents: '5' } });
  // @ts-expect-error the new input lacks its order
  refund.restart(refundPause, {}, { replaceInput: { cents: 5 } });
  // @ts-expect-error metadata is plain JSON, and a function is not
  refund.restart(refundPause, { decide: () => true });
  // @ts-expect-error metadata is an object
  refund.restart(refundPause, 'approved');
  // @ts-expect-error a tool that only asks has nothing to run again
  askColour.restart(colourPause);
}

/** An interrupt that is statically another tool's is refused by the compiler; one read from JSON is checked when used. */
export function foreignInterruptsDoNotCompile(
  refundPause: Interrupt<'refund', { order: string; cents: number }>,
  colourPause: Interrupt<'askColour', { colours: string[] }>,
  fromJson: Interrupt,
): void {
  // @ts-expect-error the interrupt is one of askColour
  refund.respond(colourPause, { receipt: 'r1' });
  // @ts-expect-error the interrupt is one of askColour
  refund.restart(colourPause);
  // @ts-expect-error the interrupt is one of refund
  askColour.respond(refundPause, 'red');

  askColour.respond(fromJson, 'red');
  refund.restart(fromJson);
  closeInterrupt(refundPause, 'expired', 'nobody came');
  closeInterrupt(fromJson, 'withdrawn', 'not needed');
  // @ts-expect-error the input of an interrupt read from JSON is unknown until a tool has matched it
  fromJson.toolRequest.input.order;
  if (refund.matches(fromJson)) {
    expectType<Equal<typeof fromJson.toolRequest.name, 'refund'>>();
    expectType<Equal<typeof fromJson.toolRequest.input.order, string>>();
  }
}

/** A tool's function gets what its input schema makes, and returns what its output schema takes. */
export function wrongFunctionsDoNotCompile(): void {
  const inputSchema = z.object({ count: z.number().default(1), at: z.coerce.date() });
  const outputSchema = z.object({ total: z.number() });

  defineTool({ name: 'right', description: '', inputSchema, outputSchema }, async (input, helpers) => {
    expectType<Equal<typeof input, { count: number; at: Date }>>();
    expectType<Equal<typeof helpers.idempotencyKey, string>>();
    expectType<Equal<typeof helpers.signal, AbortSignal>>();
    // @ts-expect-error the schema knows no such field
    input.missing;
    // @ts-expect-error `resumed` is there only after a restart
    helpers.resumed.status;
    // @ts-expect-error nobody has said what the context holds
    helpers.context.user.id;
    if (input.count > 3) return helpers.interrupt({ ask: 'So many?' });
    if (input.count < 0) return helpers.deny('negative');
    return { total: input.count };
  });
  // @ts-expect-error the function returns a text for a total
  defineTool({ name: 'wrong', description: '', inputSchema, outputSchema }, () => ({ total: 'many' }));
  // @ts-expect-error the function returns nothing
  defineTool({ name: 'wrong', description: '', inputSchema, outputSchema }, () => {});
  // @ts-expect-error the function promises the wrong thing
  defineTool({ name: 'wrong', description: '', inputSchema, outputSchema }, async () => 4);
  // @ts-expect-error the function wants another input
  defineTool({ name: 'wrong', description: '', inputSchema }, (input: { count: string }) => input);
  // @ts-expect-error a tool that acts has a function
  defineTool({ name: 'wrong', description: '' });
  // @ts-expect-error a tool has a description
  defineTool({ name: 'wrong' }, () => null);
  defineTool({ name: 'free', description: '' }, () => {});
}

/** The metadata of a restart is what the tool's schema takes, and its function gets what the schema makes of it. */
export function resumedIsTyped(pause: Interrupt<'book', { room: string }>): void {
  const book = defineTool(
    {
      name: 'book',
      description: 'books a room',
      inputSchema: z.object({ room: z.string() }),
      resumedSchema: z.object({
        status: z.enum(['APPROVED', 'REJECTED']),
        seats: z.coerce.number().default(1),
      }),
    },
    async (input, { resumed, interrupt, context }) => {
      expectType<Equal<typeof input, { room: string }>>();
      expectType<Equal<typeof context, ToolHelpers['context']>>();
      if (resumed === undefined) return interrupt();
      expectType<Equal<typeof resumed.status, 'APPROVED' | 'REJECTED'>>();
      expectType<Equal<typeof resumed.seats, number>>();
      expectType<Equal<typeof resumed.by, string | undefined>>();
      // @ts-expect-error the schema has no such answer
      return resumed.status === 'MAYBE';
    },
  );
  book.restart(pause, { status: 'APPROVED' });
  book.restart(pause, { status: 'APPROVED', by: 'U1', at: '2026-01-01T00:00:00Z' });
  // @ts-expect-error the schema has no such answer
  book.restart(pause, { status: 'MAYBE' });
  // @ts-expect-error an answer is required
  book.restart(pause);
}

/** A tool of the bot says which context it gets; its input and what it was resumed with stay typed. */
export function contextIsTyped(): void {
  const inputSchema = z.object({ room: z.string() });
  defineTool(
    { name: 'inBot', description: '', inputSchema },
    (input, { context, resumed }: ToolHelpers<BotToolContext>) => {
      expectType<Equal<typeof input, { room: string }>>();
      expectType<Equal<typeof context.requester, string>>();
      // @ts-expect-error the bot gives no such value
      context.user;
      return [context.callbackUrl('key'), context.requesters.join(), resumed?.status ?? null];
    },
  );
  const resumedSchema = z.object({ status: z.enum(['APPROVED', 'REJECTED']) });
  defineTool(
    { name: 'inBot', description: '', inputSchema, resumedSchema },
    (input, { context, resumed }: ToolHelpers<BotToolContext, z.infer<typeof resumedSchema>>) =>
      `${input.room} ${context.channel} ${resumed?.status === 'APPROVED'}`,
  );
}

/** The metadata of an interrupt is plain JSON, fixed or computed from the parsed input. */
export function wrongRequestMetadataDoesNotCompile(): void {
  const inputSchema = z.object({ count: z.number().default(1) });
  defineInterrupt({ name: 'right', description: '', inputSchema, requestMetadata: { urgent: true } });
  defineInterrupt({
    name: 'right',
    description: '',
    inputSchema,
    requestMetadata: async (input) => {
      expectType<Equal<typeof input, { count: number }>>();
      return { count: input.count };
    },
  });
  // @ts-expect-error metadata is an object
  defineInterrupt({ name: 'wrong', description: '', inputSchema, requestMetadata: 'urgent' });
  defineInterrupt({
    name: 'wrong',
    description: '',
    inputSchema,
    // @ts-expect-error metadata is plain JSON, and a date is not
    requestMetadata: () => ({ at: new Date() }),
  });
  // @ts-expect-error only a tool that asks has metadata of its own
  defineTool({ name: 'wrong', description: '', inputSchema, requestMetadata: { urgent: true } }, () => null);
}

/** The interrupts of a response are those of its tools: the name tells which one, and so types the input. */
export async function responsesAreTyped(model: Model): Promise<void> {
  const response = await generate({ model, prompt: 'go', tools: [refund, askColour, fromElsewhere] });
  for (const interrupt of response.interrupts) {
    expectType<Equal<typeof interrupt.toolRequest.name, 'refund' | 'askColour' | 'fromElsewhere'>>();
    // @ts-expect-error which tool's input this is has not been asked yet
    interrupt.toolRequest.input.order;
    // @ts-expect-error none of the tools has this name
    if (interrupt.toolRequest.name === 'transfer') continue;
    const { toolRequest } = interrupt;
    if (toolRequest.name === 'refund') {
      toolRequest.input.order.toUpperCase();
      // @ts-expect-error colours belong to askColour
      toolRequest.input.colours;
    } else if (toolRequest.name === 'askColour') {
      toolRequest.input.colours.join();
    }
    if (refund.matches(interrupt)) refund.restart(interrupt);
    else if (askColour.matches(interrupt)) askColour.respond(interrupt, 'blue');
  }

  const onlyColours = await generate({ model, prompt: 'go', tools: [askColour] });
  for (const interrupt of onlyColours.interrupts) {
    askColour.respond(interrupt, 'red');
    // @ts-expect-error this response has no interrupts of refund
    refund.restart(interrupt);
  }

  // @ts-expect-error an error comes only with the finish reason 'model-error'
  response.error;
  if (response.finishReason === 'model-error') response.error.retryAfterMs?.toFixed();
  // @ts-expect-error no loop ends like this
  if (response.finishReason === 'tired') return;
}

/** Messages and replies read back from JSON compile, parsed at the door; nothing is settled without replies. */
export async function jsonCompiles(model: Model, text: string): Promise<void> {
  const kept: unknown[] = JSON.parse(text);
  const messages: Message[] = kept.map(parseMessage);
  const tools = [refund, askColour] as const;
  const settled = await settle({ messages, tools, resume: {} });
  const colours = settled.interrupts.filter(askColour.matches);
  await generate({
    model,
    tools,
    messages: settled.messages,
    resume: {
      respond: colours.map((interrupt) => askColour.respond(interrupt, 'red')),
      restart: settled.interrupts.filter(refund.matches).map((interrupt) => refund.restart(interrupt)),
    },
  });
  // @ts-expect-error what was read is not a message before it has been parsed
  await generate({ model, messages: kept });
  // @ts-expect-error settle needs to know what to settle
  await settle({ messages, tools });
  // @ts-expect-error a model is required
  await generate({ prompt: 'go' });
  const reply = refund.restart({ id: 'i1', toolRequest: { name: 'refund', ref: 'r1', input: {} } });
  // @ts-expect-error a restart is no response
  await generate({ model, messages, tools, resume: { respond: [reply] } });
}
