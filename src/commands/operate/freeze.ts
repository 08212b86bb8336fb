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

Stops new actions of the tool (or of all tools, if none is given) from starting in any process, even if approved. Running
actions finish and are listed. Requests stay as they are, and approvals still count. Only REDIS_URL is needed. The tool
doesn't have to be in the manifest.

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

Ends the freeze of a tool; without a tool, the freeze of all tools. Approved actions start if "start_within" of their policy
has not passed; otherwise they need a new approval. It takes effect at once, even if "agent.unfreeze" requires several people
in Slack, and is recorded under the operator's name.

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
