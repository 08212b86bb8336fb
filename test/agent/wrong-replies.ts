import { closeInterrupt, generate, type Resume } from '../../src/index.ts';
import { buildTools, call, calls, scripted, stored, waiting } from './support.ts';

/** Two transfers and a question wait, and there is one good reply for each of them. */
export async function pause() {
  const kit = buildTools();
  const { model } = await scripted(
    calls(
      call('c1', 'transfer', { amount: 1 }),
      call('c2', 'transfer', { amount: 2 }),
      call('c3', 'ask', { question: 'Why?' }),
    ),
  );
  const response = await generate({ model, tools: kit.tools, prompt: 'Go' });
  const first = waiting(response, 'c1');
  const second = waiting(response, 'c2');
  const question = waiting(response, 'c3');
  const good = {
    respond: [kit.ask.respond(question, { answer: 'Because.' })],
    restart: [kit.transfer.restart(first), kit.transfer.restart(second)],
  };
  return { ...kit, messages: stored(response.messages), first, second, question, good };
}
type Paused = Awaited<ReturnType<typeof pause>>;

/** Changes one reply after it was made, as somebody might who writes its JSON by hand. */
function altered<Reply>(reply: Reply, change: (reply: Reply) => object): never {
  return JSON.parse(JSON.stringify({ ...reply, ...change(reply) })) as never;
}

interface Case {
  readonly title: string;
  readonly resume: (paused: Paused) => Resume;
  readonly error: { code: string; tool?: string; ref?: string; field?: string };
}

/** Replies that are refused, each with its error. */
export const cases: Case[] = [
  {
    title: 'for a call that does not exist',
    resume: ({ good: { restart } }) => ({
      restart: [
        ...restart,
        altered(restart[0], () => ({ toolRequest: { name: 'transfer', ref: 'c9', input: {} } })),
      ],
    }),
    error: { code: 'unknown-request', tool: 'transfer', ref: 'c9' },
  },
  {
    title: 'that names another tool than the call',
    resume: ({ good: { respond, restart } }) => ({
      restart: restart.slice(0, 1),
      respond: [
        altered(respond[0], () => ({ toolResponse: { name: 'transfer', ref: 'c3', output: { moved: 3 } } })),
      ],
    }),
    error: { code: 'wrong-tool', tool: 'transfer', ref: 'c3', field: 'name' },
  },
  {
    title: 'given twice',
    resume: ({ good }) => ({ ...good, restart: [...good.restart, ...good.restart.slice(0, 1)] }),
    error: { code: 'repeated-reply', tool: 'transfer', ref: 'c1' },
  },
  {
    title: 'given once as a restart and once as a close',
    resume: ({ good, first }) => ({ ...good, close: [closeInterrupt(first, 'denied', 'No.')] }),
    error: { code: 'repeated-reply', tool: 'transfer', ref: 'c1' },
  },
  {
    title: 'whose input was changed on the way',
    resume: ({ good: { restart } }) => ({
      restart: [
        ...restart.slice(1),
        altered(restart[0], (reply) => ({
          toolRequest: { ...reply?.toolRequest, input: { amount: 1_000_000, currency: 'EUR' } },
        })),
      ],
    }),
    error: { code: 'changed-input', tool: 'transfer', ref: 'c1', field: 'input' },
  },
  {
    title: 'whose new input does not fit the tool',
    resume: ({ good: { restart } }) => ({
      restart: [
        ...restart.slice(1),
        altered(restart[0], (reply) => ({
          toolRequest: { ...reply?.toolRequest, input: { amount: 'all of it' } },
          metadata: { ...reply?.metadata, replacedInput: reply?.toolRequest.input },
        })),
      ],
    }),
    error: { code: 'invalid-input', tool: 'transfer', ref: 'c1', field: 'amount' },
  },
  {
    title: 'whose output does not fit the tool',
    resume: ({ good: { respond, restart } }) => ({
      restart,
      respond: [
        altered(respond[0], () => ({ toolResponse: { name: 'ask', ref: 'c3', output: { answer: 3 } } })),
      ],
    }),
    error: { code: 'invalid-output', tool: 'ask', ref: 'c3', field: 'answer' },
  },
  {
    title: 'whose metadata is no object',
    resume: ({ good: { restart } }) => ({
      restart: [
        ...restart.slice(1),
        altered(restart[0], (reply) => ({ metadata: { ...reply?.metadata, resumed: 'yes' } })),
      ],
    }),
    error: { code: 'malformed-reply', tool: 'transfer', ref: 'c1', field: 'metadata.resumed' },
  },
  {
    title: 'that restarts what can only be answered',
    resume: ({ good: { restart }, question }) => ({
      restart: [
        ...restart,
        { toolRequest: stored(question.toolRequest), metadata: { interruptId: question.id, resumed: {} } },
      ] as never,
    }),
    error: { code: 'not-restartable', tool: 'ask', ref: 'c3' },
  },
  {
    title: 'that is null',
    resume: ({ good: { restart } }) => ({ restart, respond: JSON.parse('[null]') }),
    error: { code: 'malformed-reply' },
  },
  {
    title: 'without the id of its pause',
    resume: ({ good: { respond, restart } }) => ({
      restart,
      respond: [altered(respond[0], () => ({ metadata: {} }))],
    }),
    error: { code: 'malformed-reply', tool: 'ask', ref: 'c3', field: 'metadata.interruptId' },
  },
  {
    title: 'with a key that no reply has',
    resume: ({ good: { respond, restart } }) => ({
      restart,
      respond: [altered(respond[0], () => ({ approvedBy: 'me' }))],
    }),
    error: { code: 'malformed-reply', tool: 'ask', ref: 'c3' },
  },
  {
    title: 'that closes with a status the model could not read',
    resume: ({ good: { restart }, question }) => ({
      restart,
      close: [
        altered(closeInterrupt(question, 'expired', ''), ({ metadata }) => ({
          metadata: { ...metadata, status: 'Timed out!' },
        })),
      ],
    }),
    error: { code: 'malformed-reply', tool: 'ask', ref: 'c3', field: 'metadata.status' },
  },
  {
    title: 'that is text in place of a reply',
    resume: ({ good: { restart } }) => ({ restart, respond: JSON.parse('"Yes"') }),
    error: { code: 'malformed-reply', field: 'respond' },
  },
  {
    title: 'under a name that resume does not have',
    resume: ({ good }) => JSON.parse(JSON.stringify({ ...good, approve: [] })),
    error: { code: 'malformed-reply' },
  },
];
