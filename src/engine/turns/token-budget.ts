import { ModelError } from '../../agent/errors.ts';
import type { Usage } from '../../agent/messages.ts';
import type { Model, ModelReply } from '../../agent/model.ts';
import type { ClaimedTurn } from '../../store/port/values.ts';
import type { UsageTotals } from '../../store/port/workspace.ts';
import { type BudgetName, channelOf } from '../ports.ts';
import { type TurnContext, tell } from './turn-context.ts';

/** A budget of a day, with what was spent of it. */
interface DayBudget {
  readonly name: Exclude<BudgetName, 'task'>;
  readonly limit: number;
  readonly spent: number;
}

/** Reports a budget that is spent; of a day, with the hours until the next one. */
export class BudgetSpentError extends ModelError {
  readonly budget: BudgetName;
  readonly hours: number;

  constructor(budget: BudgetName, hours = 0) {
    super('over-budget', `the token budget is spent: ${budget}`);
    this.budget = budget;
    this.hours = hours;
  }
}

const WARNING_SHARE = 0.8;

/**
 * Wraps the model of a turn: counts the tokens of every call, and refuses a call once a budget is spent. A call that has started is
 * never cut off, so that a budget can be exceeded by one call of each running turn. `spentBefore` counts the tokens of the task so far.
 */
export function budgetedModel(
  context: TurnContext,
  turn: Pick<ClaimedTurn, 'threadId' | 'token'>,
  { requester, spentBefore }: { readonly requester: string; readonly spentBefore: () => number },
): Model {
  const { store, logger } = context;
  const { threadId, token } = turn;
  const channel = channelOf(threadId);
  const { model } = context.modelFor(channel);
  let before: number | undefined;
  let turnTokens = 0;
  let calls = 0;
  let totals: UsageTotals | undefined;

  async function requireBudget(): Promise<void> {
    const { budgets } = context.agent();
    const { perTurn, ...perDay } = budgets;
    if (perTurn !== undefined) {
      before ??= spentBefore();
      if (before + turnTokens >= perTurn) throw new BudgetSpentError('task');
    }
    if (Object.values(perDay).every((limit) => limit === undefined)) return;
    totals ??= await store.usageOf(threadId, requester);
    const spent = dayBudgets(context, totals).find((budget) => budget.spent >= budget.limit);
    if (spent !== undefined) throw new BudgetSpentError(spent.name, hoursLeft());
  }

  async function count({ model: answered = model.name }: ModelReply, usage: Usage): Promise<void> {
    turnTokens += usage.totalTokens;
    calls += 1;
    const callId = `${token}.${calls}`;
    const spending = { callId, threadId, person: requester, channel, model: answered, usage };
    try {
      totals = await store.spend(spending);
      await reportCrossed(context, threadId, requester, totals, usage.inputTokens + usage.outputTokens);
    } catch (err) {
      // The answer is worth more than its count.
      logger.error({ threadId, token, err }, 'usage not counted');
    }
  }

  return {
    name: model.name,
    async reply(request) {
      await requireBudget();
      const reply = await model.reply(request);
      if (reply.usage !== undefined) await count(reply, reply.usage);
      return reply;
    },
  };
}

function dayBudgets({ agent }: Pick<TurnContext, 'agent'>, totals: UsageTotals): DayBudget[] {
  const { perThread, perPerson, perDay } = agent().budgets;
  const limits = { thread: perThread, person: perPerson, bot: perDay };
  return (['thread', 'person', 'bot'] as const).flatMap((name) => {
    const limit = limits[name];
    return limit === undefined ? [] : [{ name, limit, spent: totals[name] }];
  });
}

/** Tells the admins of every budget that this call took past 80 or 100 %; each is told once a day. */
async function reportCrossed(
  context: TurnContext,
  threadId: string,
  requester: string,
  totals: UsageTotals,
  tokens: number,
): Promise<void> {
  const day = new Date().toISOString().slice(0, 10);
  for (const { name, limit, spent } of dayBudgets(context, totals)) {
    const crossed = [1, WARNING_SHARE].find(
      (share) => spent >= share * limit && spent - tokens < share * limit,
    );
    if (crossed === undefined) continue;
    const subject = { thread: threadId, person: requester, bot: 'bot' }[name];
    await tell(context, threadId, {
      code: 'budget-crossed',
      budget: name,
      subject,
      day,
      share: crossed,
      spent,
      limit,
    });
  }
}

/** Counts the hours until the budgets of a day begin anew. */
function hoursLeft(): number {
  const midnight = new Date();
  midnight.setUTCHours(24, 0, 0, 0);
  return Math.max(1, Math.round((midnight.getTime() - Date.now()) / 3_600_000));
}
