import { z } from 'zod';
import { toJson } from '../../agent/json.ts';
import type { FirstTimes } from '../../policy/first-times.ts';
import type { Facet } from './facet.ts';
import { inSentence } from './input-words.ts';

const First = z.object({
  act: z.string(),
  days: z.number(),
  of: z.string().optional(),
  /** Whether nobody has called the tool for this target. */
  isTarget: z.literal(true).optional(),
  /** The requesters who have not called the tool, and those who have not called it for this target. */
  byTool: z.array(z.string()),
  byPair: z.array(z.string()),
});

/** The first times of a call: what it is called, what kind of target it has, and for whom it is one. */
export const first = {
  name: 'first',
  schema: First,
  isOfStep: true,
  prepare: ({ approval, entry, isWhole, origin: { requesters } }) => {
    const facts = approval?.pause.first;
    if (facts === undefined || entry === undefined || !isWhole) return undefined;
    const isFirst = (what: keyof FirstTimes) => requesters.filter((person) => facts[person]?.[what] === true);
    const [tool, target, pair] = [isFirst('tool'), isFirst('target'), isFirst('pair')];
    if (pair.length + tool.length + target.length === 0) return undefined;
    const { act } = entry.presentation;
    return {
      act: inSentence(act.verb),
      days: entry.firstDays ?? 0,
      ...(act.target !== undefined && { of: inSentence(act.target) }),
      ...(target.length > 0 && { isTarget: true as const }),
      byTool: tool,
      byPair: target.length > 0 ? [] : pair,
    };
  },
  digested: (kept) => ({ first_shown: kept }),
  auditFields: ({ approval }) =>
    approval?.pause.first === undefined ? {} : { first: toJson(approval.pause.first) },
} satisfies Facet<'first', z.infer<typeof First>>;
