import type { JsonObject, JsonValue } from '../agent/json.ts';
import { compileExpression } from './condition.ts';
import { localTime, momentAt } from './time.ts';

/** A freeze of the manifest: while it holds, no action of its tools starts, approved or not. */
export interface PlannedFreeze {
  readonly name: string;
  /** Patterns of the tools. */
  readonly tools: readonly string[];
  readonly holds:
    | { readonly kind: 'dates'; readonly from: number; readonly to: number }
    /** Both in minutes since Monday, 00:00. */
    | { readonly kind: 'weekly'; readonly from: number; readonly to: number; readonly timeZone: string }
    /** While a CEL condition is true of the output of a tool that only reads. */
    | { readonly kind: 'while'; readonly tool: string; readonly input: JsonObject; readonly when: string };
}

/** A freeze that holds now, and until when, if that is known. */
export interface HoldingFreeze {
  readonly name: string;
  readonly until?: number | undefined;
}

export const WEEKDAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'];
const DAY_MINUTES = 1440;
const WEEK_MINUTES = 7 * DAY_MINUTES;
const DAY_MS = 86_400_000;

/** Returns the freeze of the calendar that a moment is in and that ends last; `undefined` if it is in none. */
export function freezeAt(freezes: readonly PlannedFreeze[], moment: number): HoldingFreeze | undefined {
  return freezes
    .flatMap(({ name, holds }) => {
      const until = untilOf(holds, moment);
      return until === undefined ? [] : [{ name, until }];
    })
    .sort((left, right) => right.until - left.until)[0];
}

function untilOf(holds: PlannedFreeze['holds'], moment: number): number | undefined {
  if (holds.kind === 'while') return undefined;
  const { from, to } = holds;
  if (holds.kind === 'dates') return moment >= from && moment < to ? to : undefined;
  const { date, weekday, hour, minute } = localTime(new Date(moment), holds.timeZone);
  const time = DAY_MINUTES * WEEKDAYS.indexOf(weekday) + 60 * Number(hour) + Number(minute);
  const isIn = from < to ? time >= from && time < to : time >= from || time < to;
  if (!isIn) return undefined;
  const end = time < to ? to : to + WEEK_MINUTES;
  const days = Math.floor(end / DAY_MINUTES) - Math.floor(time / DAY_MINUTES);
  const day = new Date(Date.parse(`${date}T00:00:00Z`) + days * DAY_MS).toISOString().slice(0, 10);
  return momentAt(day, Math.floor((end % DAY_MINUTES) / 60), end % 60, holds.timeZone);
}

type WhileFreeze = Extract<PlannedFreeze['holds'], { kind: 'while' }>;

/**
 * Returns a freeze that holds at a moment: one of the calendar, or one that a tool says, which is read then. One of which nobody can tell
 * holds.
 */
export async function findHolding(
  freezes: readonly PlannedFreeze[],
  moment: number,
  read: (freeze: WhileFreeze) => Promise<JsonValue>,
): Promise<HoldingFreeze | undefined> {
  const planned = freezeAt(freezes, moment);
  if (planned !== undefined) return planned;
  for (const { name, holds } of freezes) {
    if (holds.kind !== 'while') continue;
    const output = await read(holds).catch(() => undefined);
    if (output === undefined || saysFrozen(holds.when, output)) return { name };
  }
  return undefined;
}

const compiled = new Map<string, ReturnType<typeof compileExpression>>();

function saysFrozen(when: string, output: JsonValue): boolean {
  const evaluate = compiled.get(when) ?? compileExpression(when);
  compiled.set(when, evaluate);
  const result = evaluate({ output, input: {}, requester: '', channel: '', tool: '' });
  return !('value' in result) || result.value !== false;
}

/** Names a freeze, and says until when it holds. */
export function freezeInWords({ name, until }: HoldingFreeze): string {
  if (until === undefined) return name;
  return `${name}, until ${new Date(until).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
