import { z } from 'zod';
import type { AuditRow } from '../../../src/store/port/audit.ts';
import type { Effect } from '../worker/effects.ts';
import type { Evidence, SeenClick } from '../world/gather-evidence.ts';

/** One request with all that was seen of it from outside. */
export interface SeenRequest {
  readonly id: string;
  /** Its rows in the audit log, the first of which says that it was asked. */
  readonly rows: readonly AuditRow[];
  /** The token on its card; `undefined` when no card was ever shown. */
  readonly token: string | undefined;
  readonly tool: string;
  /** Everything that could be read on its cards while they could be approved. */
  readonly shown: readonly string[];
  readonly clicks: readonly SeenClick[];
  /** The votes that it rests on: its own, or those of its plan. */
  readonly votes: readonly AuditRow[];
  readonly effects: readonly Effect[];
}

/** Everything that ends a request for good; nothing but a refusal may come after it. */
const ENDS = [
  'succeeded',
  'failed',
  'resolved',
  'rejected',
  'expired',
  'withdrawn',
  'superseded',
  'abandoned',
  'answered',
];

/** Whether a row is a request's last word; what is to run again is not at its end. */
export function isEnd({ event, detail }: AuditRow): boolean {
  return ENDS.includes(event) && !(event === 'resolved' && detail.startsWith('run-again'));
}

const Plan = z.object({ steps: z.array(z.unknown()) });
/** A step of a plan, as the log has it. */
const Step = z.object({
  plan: z.object({ plan: z.string(), alone: z.boolean() }),
  arguments: z.object({ token: z.string() }),
});

/** Puts together what is known of each request; an effect belongs to the request of its token that was started last before it. */
export function requestsOf({ audit, cards, clicks, effects, errands }: Evidence): SeenRequest[] {
  const tokens = new Map<string, string>();
  const shown = new Map<string, string[]>();
  for (const { text, buttons } of cards) {
    const token = /tok-[\w-]+/.exec(text)?.[0];
    for (const { requestId, actionId } of buttons) {
      if (token !== undefined) tokens.set(requestId, token);
      if (actionId === 'approve') shown.set(requestId, [...(shown.get(requestId) ?? []), text]);
    }
  }
  const tools = new Map(
    errands.flatMap(({ calls }) => calls.map(({ token, tool }) => [token, tool] as const)),
  );
  const rows = groupBy(audit, ({ subject }) => subject);
  const clicked = groupBy(clicks, ({ requestId }) => requestId);
  const happened = groupBy(effects, ({ token }) => token);
  const asked = audit.filter(({ event }) => event === 'asked').map(({ subject }) => subject);
  const startedIds = new Set(audit.filter(({ event }) => event === 'started').map(({ subject }) => subject));
  return asked.map((id) => {
    const [first] = rows.get(id) ?? [];
    const body: unknown = JSON.parse(first?.body || '{}');
    const step = Step.safeParse(body).data;
    const covered = step?.plan.alone === false ? step : undefined;
    // A plan is about the tokens of all its steps.
    const token = Plan.safeParse(body).success ? undefined : (covered?.arguments.token ?? tokens.get(id));
    const approvedAs = covered?.plan.plan ?? id;
    return {
      id,
      rows: rows.get(id) ?? [],
      token,
      tool: tools.get(token ?? '') ?? '',
      shown: shown.get(approvedAs) ?? [],
      clicks: clicked.get(approvedAs) ?? [],
      votes: (rows.get(approvedAs) ?? []).filter(({ event }) => event === 'voted'),
      effects: startedIds.has(id) ? (happened.get(token ?? '') ?? []) : [],
    };
  });
}

export function rowsOf(request: SeenRequest, ...events: readonly string[]): AuditRow[] {
  return request.rows.filter(({ event }) => events.includes(event));
}

export function groupBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return groups;
}
