import { z } from 'zod';
import { EFFECTS } from '../agent/tool.ts';
import { Report } from '../tools/toolbox/caller-action.ts';
import { AskRequest, AskView } from './ask-view.ts';
import { RunRequest } from './door.ts';
import { type ProblemCode, problemsByStatus } from './problems.ts';
import { Receipt } from './receipt.ts';
import { RunView } from './run-view.ts';

const ListedTools = z.object({
  tools: z.array(
    z.object({
      name: z.string(),
      description: z.string(),
      input_schema: z.record(z.string(), z.unknown()),
      output_schema: z.record(z.string(), z.unknown()).optional(),
      effect: z
        .enum(EFFECTS)
        .describe('none: it only reads; idempotent: a repeated call changes nothing more.'),
    }),
  ),
});
const ProblemBody = z
  .object({ type: z.string(), title: z.string(), status: z.int(), detail: z.string(), code: z.string() })
  .describe('RFC 9457.');

const SCHEMAS = {
  RunRequest,
  Run: RunView,
  AskRequest,
  Ask: AskView,
  Report,
  Receipt,
  Tools: ListedTools,
  Problem: ProblemBody,
};

/** Longer waits are cut; proxies end connections that are silent for a minute. */
export const LONGEST_WAIT_S = 60;
export const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,255}$/;

const ALWAYS: readonly ProblemCode[] = ['unauthorized', 'unavailable'];
const CHANGING: readonly ProblemCode[] = [...ALWAYS, 'replayed', 'malformed'];
const SENDING: readonly ProblemCode[] = [...CHANGING, 'too-long', 'wrong-type', 'unfit'];
const SUBMITTING: readonly ProblemCode[] = [
  ...SENDING,
  'owner-inactive',
  'person-unproven',
  'frozen',
  'key-reused',
  'gone',
  'too-many-pending',
  'too-many',
];

const ID = { name: 'id', in: 'path', required: true, schema: { type: 'string' } };
const KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  description: 'The same key is the same request.',
  schema: { type: 'string', pattern: IDEMPOTENCY_KEY.source },
};
const WAIT = {
  name: 'wait',
  in: 'query',
  description: `How many seconds to wait for its end, or for the decision about an ask; at most ${LONGEST_WAIT_S}.`,
  schema: { type: 'number', minimum: 0 },
};

interface Operation {
  readonly id: string;
  readonly summary: string;
  readonly parameters?: readonly object[];
  readonly body?: keyof typeof SCHEMAS;
  /** The statuses of success, and their body. */
  readonly ok: readonly (200 | 202)[];
  readonly answer: keyof typeof SCHEMAS;
  readonly problems: readonly ProblemCode[];
}

const PATHS: Readonly<Record<string, Readonly<Record<string, Operation>>>> = {
  '/v1/tools': {
    get: {
      id: 'listTools',
      summary: 'List the tools that the caller may use',
      ok: [200],
      answer: 'Tools',
      problems: ALWAYS,
    },
  },
  '/v1/runs': {
    post: {
      id: 'createRun',
      summary: 'Ask for a call of a tool',
      parameters: [KEY],
      body: 'RunRequest',
      ok: [200, 202],
      answer: 'Run',
      problems: [...SUBMITTING, 'tool-not-allowed'],
    },
  },
  '/v1/runs/{id}': {
    get: {
      id: 'readRun',
      summary: 'Read a request, or wait until it has ended',
      parameters: [ID, WAIT],
      ok: [200],
      answer: 'Run',
      problems: [...ALWAYS, 'not-found'],
    },
    delete: {
      id: 'withdrawRun',
      summary: 'Withdraw a request that has not started',
      parameters: [ID],
      ok: [200],
      answer: 'Run',
      problems: [...CHANGING, 'not-found', 'too-late'],
    },
  },
  '/v1/asks': {
    post: {
      id: 'createAsk',
      summary: 'Ask about something that the caller runs itself',
      parameters: [KEY],
      body: 'AskRequest',
      ok: [202],
      answer: 'Ask',
      problems: [...SUBMITTING, 'policy-not-allowed'],
    },
  },
  '/v1/asks/{id}': {
    get: {
      id: 'readAsk',
      summary: 'Read an ask and its receipt, or wait until people have decided',
      parameters: [ID, WAIT],
      ok: [200],
      answer: 'Ask',
      problems: [...ALWAYS, 'not-found'],
    },
    delete: {
      id: 'withdrawAsk',
      summary: 'Withdraw an ask that has not started',
      parameters: [ID],
      ok: [200],
      answer: 'Ask',
      problems: [...CHANGING, 'not-found', 'too-late'],
    },
  },
  '/v1/asks/{id}/start': {
    post: {
      id: 'startAsk',
      summary: 'Take the approval, once, before the action runs',
      parameters: [ID],
      ok: [200],
      answer: 'Ask',
      problems: [...CHANGING, 'not-found', 'frozen', 'not-approved', 'too-late'],
    },
  },
  '/v1/asks/{id}/report': {
    post: {
      id: 'reportAsk',
      summary: 'Report the outcome',
      parameters: [ID],
      body: 'Report',
      ok: [200],
      answer: 'Ask',
      problems: [...SENDING, 'not-found', 'not-approved', 'too-late'],
    },
  },
};

/** Describes the addresses under `/v1` as OpenAPI 3.1, from the schemas that requests and answers are made with. */
export function openApi(): object {
  return {
    openapi: '3.1.0',
    info: { title: 'Countersign', version: '1' },
    // The bot serves this document beside the addresses.
    servers: [{ url: '/' }],
    security: [{ bearer: [] }],
    paths: Object.fromEntries(
      Object.entries(PATHS).map(([path, operations]) => [
        path,
        Object.fromEntries(
          Object.entries(operations).map(([method, operation]) => [method, describeOperation(operation)]),
        ),
      ]),
    ),
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
      schemas: Object.fromEntries(
        Object.entries(SCHEMAS).map(([name, schema]) => {
          // A value of JSON is any: the schema of the tool says more.
          const { $schema, ...rest } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
          return [name, rest];
        }),
      ),
    },
  };
}

function describeOperation({ id, summary, parameters, body, ok, answer, problems }: Operation): object {
  const answers = ok.map((status) => [
    status,
    {
      description: status === 202 ? 'It is on record and not ended' : 'As it is now',
      content: content(answer),
    },
  ]);
  const refusals = [...problemsByStatus(problems)].map(([status, description]) => [
    status,
    { description, content: content('Problem', 'application/problem+json') },
  ]);
  return {
    operationId: id,
    summary,
    ...(parameters !== undefined && { parameters }),
    ...(body !== undefined && { requestBody: { required: true, content: content(body) } }),
    responses: Object.fromEntries([...answers, ...refusals]),
  };
}

function content(name: keyof typeof SCHEMAS, type = 'application/json') {
  return { [type]: { schema: { $ref: `#/components/schemas/${name}` } } };
}
