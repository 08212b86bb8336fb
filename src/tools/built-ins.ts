import { z } from 'zod';
import { defineInterrupt, defineTool } from '../agent/define-tool.ts';
import { isDeeperThan, isJsonObject, toJson } from '../agent/json.ts';
import type { Tool } from '../agent/tool.ts';

const MAX_SCHEMA_LENGTH = 20_000;
const MAX_SCHEMA_DEPTH = 20;

/**
 * A JSON Schema that the model writes. It is short, and it has no regular expressions: a bad one can block the process on a bad
 * answer.
 */
const ModelSchema = z
  .record(z.string(), z.unknown())
  .refine(
    (schema) => !isDeeperThan(MAX_SCHEMA_DEPTH, schema),
    `must not be nested more than ${MAX_SCHEMA_DEPTH} levels deep`,
  )
  .refine(isShort, `must not have more than ${MAX_SCHEMA_LENGTH} characters`)
  .refine((schema) => !hasPattern(schema), 'must not use "pattern" or "patternProperties"');

// Zod runs this check even if the one before it has failed.
function isShort(schema: unknown): boolean {
  return isDeeperThan(MAX_SCHEMA_DEPTH, schema) || JSON.stringify(schema).length <= MAX_SCHEMA_LENGTH;
}

/** Tells a keyword from a property that is called `pattern`: the latter is an object. */
function hasPattern(schema: unknown, depth = 0): boolean {
  if (depth > MAX_SCHEMA_DEPTH || typeof schema !== 'object' || schema === null) return false;
  if (isJsonObject(schema) && (typeof schema.pattern === 'string' || schema.patternProperties !== undefined))
    return true;
  return Object.values(schema).some((part) => hasPattern(part, depth + 1));
}

/** Lets the model ask the person it works for; the loop waits for the answer. */
export const askQuestion = defineInterrupt({
  name: 'ask_question',
  description: 'Ask the user a clarifying question and wait for the answer.',
  inputSchema: z.object({
    question: z.string().min(1).describe('what to ask'),
    choices: z.array(z.string().min(1)).max(100).default([]).describe('the choices to display to the user'),
    allowOther: z.boolean().default(false).describe('when true, allow write-ins'),
    several: z.boolean().default(false).describe('when true, several choices may be taken together'),
  }),
  outputSchema: z.union([z.string(), z.array(z.string())]),
});

/** Lets the model ask for several values at once; the loop waits for the submitted form. */
export const requestForm = defineInterrupt({
  name: 'request_form',
  description: 'Ask the user to fill in a form and wait for the values.',
  inputSchema: z.object({
    title: z.string().min(1).describe('what the form is for'),
    fields: ModelSchema.describe(
      'a JSON Schema of type object, without patterns; its properties become the fields of the form',
    ),
  }),
  outputSchema: z.record(z.string(), z.unknown()),
  requestMetadata: ({ title, fields }) => ({ message: title, form: toJson(fields) }),
});

/** Lets the model wait for an external system; a signed callback brings the result, even days later. */
export const waitForCallback = defineInterrupt({
  name: 'wait_for_callback',
  description: 'Wait until an outside system reports back. Use it after starting work that ends elsewhere.',
  inputSchema: z.object({
    awaited: z.string().min(1).describe('what is awaited, in words for people'),
    result: ModelSchema.optional().describe(
      'a JSON Schema, without patterns, that the reported result must fit',
    ),
  }),
  outputSchema: z.unknown(),
  requestMetadata: ({ awaited, result }) => ({
    message: awaited,
    callback: result === undefined ? {} : { result: toJson(result) },
  }),
});

/** Lets the model declare the task complete with a structured result; the loop ends there. */
export const completeTask = defineInterrupt({
  name: 'complete_task',
  description:
    'Declare the task complete. Call it once, when everything asked for is done or cannot be done.',
  inputSchema: z.object({
    outcome: z.enum(['done', 'partly-done', 'not-done']),
    summary: z.string().min(1).describe('what was done, in one or two sentences'),
    result: z.record(z.string(), z.unknown()).optional().describe('the result as data'),
  }),
  outputSchema: z.object({ recorded: z.literal(true) }),
});

/** The interrupts that every agent has unless the manifest switches them off. */
export const builtIns: readonly Tool[] = [askQuestion, requestForm, waitForCallback, completeTask];

/** The name of the built-in that asks once for several calls. */
export const PROPOSE_PLAN = 'propose_plan';

const PLAN_STEPS = { fewest: 2, most: 12 };

/** The calls of a plan, in order, with the model's words for what they are for. */
export const PlanInput = z.object({
  goal: z.string().trim().min(1).max(300).describe('what the steps are for, in one sentence'),
  steps: z
    .array(
      z.object({
        tool: z.string().min(1).describe('the name of the tool'),
        input: z.record(z.string(), z.unknown()).describe('its exact arguments'),
      }),
    )
    .min(PLAN_STEPS.fewest)
    .max(PLAN_STEPS.most)
    .describe('the calls, in the order in which they run'),
});
export type PlanInput = z.infer<typeof PlanInput>;

/** The part of a call's context with which a plan is checked; the caller of `generate` brings it. */
export interface PlanContext {
  /** Says why people cannot be asked for a plan; `undefined` if they can. */
  readonly planProblem: (plan: PlanInput) => string | undefined;
}

const Planning = z.object({
  planProblem: z.custom<PlanContext['planProblem']>((value) => typeof value === 'function'),
});

/** The metadata key of the pause of a plan: `new`, or `again` for what is left of one that stopped. */
export const PLAN_PAUSE = 'plan';

/** Lets the model ask once for several calls. The turn puts the calls beside it, and they wait with it. */
export const proposePlan = defineTool(
  {
    name: PROPOSE_PLAN,
    description: `Ask people once for ${PLAN_STEPS.fewest} to ${PLAN_STEPS.most} calls that need approval, instead of calling the tools one by one. The calls run in this order after the approval; the first that fails stops the rest. Only calls that need approval, with exact arguments. Ask for a call that depends on a result of another when that result is known.`,
    inputSchema: PlanInput,
    outputSchema: z.object({
      outcome: z.enum(['done', 'stopped']),
      steps: z.array(z.object({ tool: z.string(), outcome: z.string() })),
    }),
    effect: 'none',
  },
  (plan, { context, resumed, interrupt }) => {
    const { data } = Planning.safeParse(context);
    const problem = data === undefined ? 'Plans cannot be proposed here.' : data.planProblem(plan);
    if (problem !== undefined && resumed === undefined) throw new Error(problem);
    return interrupt({ [PLAN_PAUSE]: resumed === undefined ? 'new' : 'again' });
  },
);
