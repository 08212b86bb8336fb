import type { Verdict } from '../../store/port/store.ts';
import { type Command, EXIT, Failure, UsageError } from '../shared/command.ts';
import { withRecord } from '../shared/open-record.ts';
import { readOptions } from '../shared/options.ts';
import { OPERATOR_HELP, OPERATOR_OPTIONS, readOperator, refusalOf, requestArgument } from './operator.ts';
import { requireRequest, titleOf } from './request-view.ts';

const VERDICTS: readonly Verdict[] = ['ran', 'did-not-run', 'run-again'];
const DONE: Readonly<Record<Verdict, string>> = {
  ran: 'on record: it ran',
  'did-not-run': 'on record: it did not run',
  'run-again': 'it runs again within seconds',
};

/** Records the outcome of an action when it is unknown, under the guards of the same click in Slack. */
export const resolve: Command = {
  help: `Usage: countersign resolve <request> --ran|--did-not-run|--run-again --reason TEXT [--as NAME] [--json]

Ends a request whose outcome is unknown: the worker stopped in the middle of it. Find out first, in the system that it
changes, whether it took effect.

  --ran          it took effect
  --did-not-run  it took no effect
  --run-again    it took no effect and is to run now, under the approvals that it has
${OPERATOR_HELP}

Exit code: 0 resolved, 1 its outcome is not unknown or there is no such request, 2 wrong usage.
`,
  async run(args, context) {
    const { values, positionals } = readOptions(
      args,
      {
        ...OPERATOR_OPTIONS,
        ran: { type: 'boolean' },
        'did-not-run': { type: 'boolean' },
        'run-again': { type: 'boolean' },
      },
      { positionals: 1 },
    );
    const requestId = requestArgument(positionals);
    const [verdict, second] = VERDICTS.filter((name) => values[name] === true);
    if (verdict === undefined || second !== undefined)
      throw new UsageError('give one of --ran, --did-not-run and --run-again');
    return withRecord(context, async ({ store }) => {
      const request = await requireRequest(store, requestId);
      if (request.state !== 'unknown')
        throw new Failure(`${requestId} is ${request.state}; only an unknown outcome is resolved`);
      const { who, evidence, reason } = await readOperator(values, context);
      const actor = { who, evidence, eligible: true };
      const result = await store.resolve(requestId, actor, verdict, reason, request.attempts);
      const isDone = result.outcome === 'resolved';
      if (values.json) await context.write(`${JSON.stringify({ ok: isDone, ...result })}\n`);
      else if (!isDone) throw new Failure(`${requestId} is not resolved: ${refusalOf(result)}`);
      else await context.write(`${titleOf(request)}: ${DONE[verdict]}\n`);
      return isDone ? EXIT.ok : EXIT.problem;
    });
  },
};
