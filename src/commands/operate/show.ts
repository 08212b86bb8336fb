import { showLine } from '../../bot/cards/show-text.ts';
import { readDetails } from '../../bot/requests/request-details.ts';
import type { RequestRecord } from '../../store/port/store.ts';
import { PeopleNames } from '../shared/audit-view.ts';
import { type Command, EXIT } from '../shared/command.ts';
import { withRecord } from '../shared/open-record.ts';
import { readOptions } from '../shared/options.ts';
import { formatTable } from '../shared/table.ts';
import { requestArgument } from './operator.ts';
import { describeRequest, phaseOf, requireRequest, timeOf, titleOf } from './request-view.ts';

/** Shows everything that the record holds of one request. */
export const show: Command = {
  help: `Usage: countersign show <request> [--json]

Prints one request: what would run, who asked, who approves, the votes, the attempts and the outcome. Only REDIS_URL is
needed; with SLACK_BOT_TOKEN people are shown by name.

  --json         print one JSON object, with ids

Exit code: 0 shown, 1 there is no such request or it cannot be read, 2 wrong usage.
`,
  async run(args, context) {
    const { values, positionals } = readOptions(args, { json: { type: 'boolean' } }, { positionals: 1 });
    const requestId = requestArgument(positionals);
    const request = await withRecord(context, ({ store }) => requireRequest(store, requestId));
    if (values.json) {
      const { votes, attempts, by = null, payload = null, settledAt } = request;
      const rest = {
        votes,
        attempts,
        by,
        payload,
        settledAt: settledAt === undefined ? null : timeOf(settledAt),
      };
      await context.write(`${JSON.stringify({ ...describeRequest(request), ...rest })}\n`);
      return EXIT.ok;
    }
    const rows = await toRows(request, new PeopleNames(context.environment));
    for (const line of formatTable(rows)) await context.write(`${line}\n`);
    return EXIT.ok;
  },
};

async function toRows(request: RequestRecord, names: PeopleNames): Promise<string[][]> {
  const nameAll = async (ids: readonly string[]) =>
    (await Promise.all(ids.map((id) => names.nameOf(id)))).join(', ');
  const { requesters, principals, policy, votes, attempts, state } = request;
  const details = readDetails(request);
  const call = details?.interrupt.toolRequest;
  const rows: (readonly [string, string | undefined])[] = [
    ['request', request.id],
    ['what', titleOf(request)],
    ['tool', call?.name],
    ['state', phaseOf(request)],
    ['requested by', await nameAll(requesters)],
    ['edited by', details?.editedBy && (await names.nameOf(details.editedBy))],
    ['approvers', await nameAll(principals)],
    ['can confirm the outcome', state === 'unknown' ? await nameAll(policy.resolvers) : undefined],
    ['asked at', timeOf(request.createdAt)],
    ['expires at', state === 'pending' ? timeOf(request.expiresAt) : undefined],
    ...(await Promise.all(
      votes.map(async ({ who, decision, at }) => {
        const word = decision === 'approve' ? 'approved by' : 'rejected by';
        return [word, `${await names.nameOf(who)} at ${timeOf(at)}`] as const;
      }),
    )),
    ['attempts', attempts === 0 ? undefined : String(attempts)],
    ['ended at', request.settledAt === undefined ? undefined : timeOf(request.settledAt)],
    ['ended by', request.by === undefined || request.by === '' ? undefined : await names.nameOf(request.by)],
    ['outcome', request.payload === '' ? undefined : request.payload],
    ["agent's explanation (unverified)", details?.why],
    ['arguments', JSON.stringify(call?.input ?? null)],
  ];
  return rows.flatMap(([name, value]) => (value === undefined ? [] : [[name, showLine(value)]]));
}
