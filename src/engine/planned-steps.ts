import { z } from 'zod';
import { Json, JsonRecord } from '../agent/json-schema.ts';
import { CalendarPeriod } from '../policy/limits.ts';
import { PresentedCall } from './presented.ts';

const PlannedStep = z.object({
  /** The id of its request. */
  id: z.string(),
  number: z.number(),
  tool: z.string(),
  presented: PresentedCall,
  input: Json,
  /** Whether it is asked by itself, and the plan waits there. */
  alone: z.boolean(),
  /** The facets of its request that a plan shows; `readFacets` parses them. */
  facets: JsonRecord,
});

/** A plan as its card shows it. */
export const PlannedSteps = z.object({
  /** The model's words. */
  goal: z.string(),
  steps: z.array(PlannedStep),
  /** The steps of a plan that stopped, for what is left of it: how each ended. */
  before: z.array(z.object({ title: z.string(), outcome: z.string() })).optional(),
});
export type PlannedSteps = Readonly<z.infer<typeof PlannedSteps>>;

/** The number of steps of a plan that fit a limit. */
export const LimitShown = z.object({
  steps: z.number(),
  limit: z.object({
    sum: z.string().optional(),
    per: z.enum(['requester', 'channel', 'tool']),
    windowMs: z.number(),
    calendar: CalendarPeriod.optional(),
    max: z.number(),
    shownMax: z.string().optional(),
  }),
});
export type LimitShown = z.infer<typeof LimitShown>;
