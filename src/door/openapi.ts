import { z } from 'zod';
import { Report } from '../tools/toolbox/caller-action.ts';
import { AskRequest, AskView } from './ask-view.ts';
import { RunRequest } from './door.ts';
import { Receipt } from './receipt.ts';
import { RunView } from './run-view.ts';

const ListedTools = z.object({
  tools: z.array(
    z.object({ name: z.string(), description: z.string(), input_schema: z.record(z.string(), z.unknown()) }),
  ),
});
const ProblemBody = z
  .object({ type: z.string(), title: z.string(), status: z.int(), detail: z.string(), code: z.string() })
  .describe('RFC 9457.');

const SCHEMAS = {
  ...{ RunRequest, Run: RunView, AskRequest, Ask: AskView, Report, Receipt },
  ...{ Tools: ListedTools, Problem: ProblemBody },
};

/** Describes the addresses under `/v1` as OpenAPI 3.1, from the schemas that requests and answers are made with. */
export function openApi(): object {
  const problem = { description: 'A problem', content: content('Problem', 'application/problem+json') };
  const answers = (ok: Readonly<Record<string, object>>) => ({ ...ok, default: problem });
  const run = { description: 'The request', content: content('Run') };
  const ask = { description: 'The request', content: content('Ask') };
  const id = { name: 'id', in: 'path', required: true, schema: { type: 'string' } };
  const key = {
    ...{ name: 'Idempotency-Key', in: 'header', schema: { type: 'string', maxLength: 255 } },
    description: 'The same key is the same request.',
  };
  const wait = {
    ...{ name: 'wait', in: 'query', schema: { type: 'number', maximum: 60 } },
    description: 'How many seconds to wait for its end, or for the decision about an ask.',
  };
  return {
    openapi: '3.1.0',
    info: { title: 'Countersign', version: '1' },
    security: [{ bearer: [] }],
    paths: {
      '/v1/tools': {
        get: {
          summary: 'List the tools that the caller may use',
          responses: answers({ 200: { description: 'The tools', content: content('Tools') } }),
        },
      },
      '/v1/runs': {
        post: {
          summary: 'Ask for a call of a tool',
          parameters: [key],
          requestBody: { required: true, content: content('RunRequest') },
          responses: answers({ 200: run, 202: run }),
        },
      },
      '/v1/runs/{id}': {
        get: {
          summary: 'Read a request, or wait until it has ended',
          parameters: [id, wait],
          responses: answers({ 200: run }),
        },
        delete: {
          summary: 'Withdraw a request that has not started',
          parameters: [id],
          responses: answers({ 200: run }),
        },
      },
      '/v1/asks': {
        post: {
          summary: 'Ask about something that the caller runs itself',
          parameters: [key],
          requestBody: { required: true, content: content('AskRequest') },
          responses: answers({ 202: ask }),
        },
      },
      '/v1/asks/{id}': {
        get: {
          summary: 'Read an ask and its receipt, or wait until people have decided',
          parameters: [id, wait],
          responses: answers({ 200: ask }),
        },
        delete: {
          summary: 'Withdraw an ask that has not started',
          parameters: [id],
          responses: answers({ 200: ask }),
        },
      },
      '/v1/asks/{id}/start': {
        post: {
          summary: 'Take the approval, once, before the action runs',
          parameters: [id],
          responses: answers({ 200: ask }),
        },
      },
      '/v1/asks/{id}/report': {
        post: {
          summary: 'Report the outcome',
          parameters: [id],
          requestBody: { required: true, content: content('Report') },
          responses: answers({ 200: ask }),
        },
      },
    },
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
      schemas: Object.fromEntries(
        Object.entries(SCHEMAS).map(([name, schema]) => [name, z.toJSONSchema(schema, { io: 'input' })]),
      ),
    },
  };
}

function content(name: keyof typeof SCHEMAS, type = 'application/json') {
  return { [type]: { schema: { $ref: `#/components/schemas/${name}` } } };
}
