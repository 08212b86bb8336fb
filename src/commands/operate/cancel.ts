import { type Command, EXIT, Failure } from '../shared/command.ts';
import { withRecord } from '../shared/open-record.ts';
import { readOptions } from '../shared/options.ts';
import { OPERATOR_HELP, OPERATOR_OPTIONS, readOperator, refusalOf, requestArgument } from './operator.ts';
import { requireRequest, titleOf } from './request-view.ts';

/** Cancels a request that has not started; the record has it as withdrawn by the operator. */
export const cancel: Command = {
  help: `Usage: countersign cancel <request> --reason TEXT [--as NAME] [--json]

Cancels a request that waits or is approved and has not started: it never runs, and the agent and the thread are told. It
is on record as withdrawn by the operator. A running bot updates the card within seconds.

${OPERATOR_HELP}

Exit code: 0 cancelled, 1 it is too late or there is no such request, 2 wrong usage.
`,
  async run(args, context) {
    const { values, positionals } = readOptions(args, OPERATOR_OPTIONS, { positionals: 1 });
    const requestId = requestArgument(positionals);
    return withRecord(context, async ({ store }) => {
      const request = await requireRequest(store, requestId);
      const { who, evidence, reason } = await readOperator(values, context);
      const result = await store.withdraw(requestId, { who, evidence, isOperator: true }, reason);
      const { outcome } = result;
      const isDone = outcome === 'withdrawn';
      if (values.json) await context.write(`${JSON.stringify({ ok: isDone, ...result })}\n`);
      else if (!isDone) throw new Failure(`${requestId} is not cancelled: ${refusalOf(result)}`);
      else await context.write(`cancelled: ${titleOf(request)}\n`);
      return isDone ? EXIT.ok : EXIT.problem;
    });
  },
};
