import { freezeActions } from '../../bot/freezes/freeze-actions.ts';
import { freezeTexts } from '../../bot/texts/freezes.ts';
import { ALL_TOOLS } from '../../store/port/freezes.ts';
import { type Command, EXIT, Failure } from '../shared/command.ts';
import { withRecord } from '../shared/open-record.ts';
import { readOptions } from '../shared/options.ts';
import { OPERATOR_HELP, OPERATOR_OPTIONS, readOperator } from './operator.ts';

/** Stops every new action, or those of one tool, in all processes. */
export const freeze: Command = {
  help: `Usage: countersign freeze [tool] --reason TEXT [--as NAME] [--json]

From now on no action of the tool starts in any process, approved or not; without a tool, none of any tool. What runs is let
finish, and is listed. Requests stay as they are, and approvals still count. Only REDIS_URL is needed. A tool that no manifest
knows is frozen all the same.

${OPERATOR_HELP}

See "countersign unfreeze" to end it, and "countersign pending" for what is frozen.
Exit code: 0 frozen, also if it was before, 1 Redis cannot be reached, 2 wrong usage.
`,
  async run(args, context) {
    const { values, positionals } = readOptions(args, OPERATOR_OPTIONS, { positionals: 1 });
    const [scope = ALL_TOOLS] = positionals;
    const { who, evidence, reason } = await readOperator(values, context);
    return withRecord(context, async ({ store }) => {
      const freezer = { who, id: evidence.click, reason, evidence };
      const { outcome, running } = await freezeActions(store, scope, freezer);
      const text =
        outcome === 'frozen' ? freezeTexts.frozen(scope, running) : freezeTexts.alreadyFrozen(scope, running);
      await context.write(values.json ? `${JSON.stringify({ ok: true, outcome, running })}\n` : `${text}\n`);
      return EXIT.ok;
    });
  },
};

/** Ends a freeze, on record as the operator. */
export const unfreeze: Command = {
  help: `Usage: countersign unfreeze [tool] --reason TEXT [--as NAME] [--json]

Ends the freeze of a tool; without a tool, that of all tools. What was approved starts if its policy's "start_within" is not
over, and is asked anew otherwise. It takes effect at once, also where "agent.unfreeze" asks for several people in Slack, and
is on record as the operator's.

${OPERATOR_HELP}

Exit code: 0 unfrozen, 1 it is not frozen, 2 wrong usage.
`,
  async run(args, context) {
    const { values, positionals } = readOptions(args, OPERATOR_OPTIONS, { positionals: 1 });
    const [scope = ALL_TOOLS] = positionals;
    const { who, evidence, reason } = await readOperator(values, context);
    return withRecord(context, async ({ store }) => {
      const vote = { scope, id: evidence.click, who, reason, evidence };
      const { outcome } = await store.unfreeze({ ...vote, eligible: true, quorum: 1, stillEligible: [] });
      const isDone = outcome === 'unfrozen';
      if (isDone) await store.spreadFreezes();
      if (values.json) await context.write(`${JSON.stringify({ ok: isDone, outcome })}\n`);
      else if (!isDone) throw new Failure(freezeTexts.notFrozen(scope));
      else await context.write(`${freezeTexts.unfrozen(scope)}\n`);
      return isDone ? EXIT.ok : EXIT.problem;
    });
  },
};
