import { stateWordOf, titleOf } from '../../bot/views/cards/card-details.ts';
import { freezeTexts } from '../../bot/views/texts/freezes.ts';
import { cut, showLine } from '../../bot/views/texts/show-text.ts';
import { countedApprovals } from '../../engine/approvals.ts';
import { readDetails } from '../../engine/request-details.ts';
import type { RequestRecord } from '../../store/port/request-record.ts';
import type { Store } from '../../store/port/store.ts';
import { readWaiting } from '../../store/redis/verbs/read-waiting.ts';
import { PeopleNames } from '../audit/audit-view.ts';
import { type Command, EXIT, Failure, formatTable, readOptions, UsageError } from '../shared/command.ts';
import { withRecord } from '../shared/open-record.ts';
import { OPERATOR_HELP, OPERATOR_OPTIONS, readOperator, refusalOf, requestArgument } from './operator.ts';

const MAX_INPUT_LENGTH = 60;
const HEADINGS = ['state', 'what', 'arguments', 'requested by', 'waits for', 'until', 'request'];

/** Lists every request that waits for people. */
export const pending: Command = {
  help: `Usage: countersign pending [--json]

Prints a table of the requests that wait: for an approval, an answer, or someone to confirm the outcome of an action when
it is unknown. Active freezes are printed to stderr. Only REDIS_URL is needed; with SLACK_BOT_TOKEN people are shown by name.

  --json         print one JSON object per line, with ids

See "countersign show" for one of them, "cancel" and "resolve" to end it.
Exit code: 0 also if nothing waits, 1 a request or Redis cannot be read, 2 wrong usage.
`,
  async run(args, context) {
    const { values } = readOptions(args, { json: { type: 'boolean' } });
    const { write, writeError } = context;
    const names = new PeopleNames(context.environment);
    return withRecord(context, async ({ store, client, prefix }) => {
      const { freezes } = await store.readFreezes();
      for (const freeze of freezes) await writeError(`${showLine(freezeTexts.terminal.line(freeze))}\n`);
      let unreadable = 0;
      const rows: string[][] = [];
      for await (const requestId of readWaiting(client, prefix)) {
        const loaded = await store.load(requestId);
        if (loaded.outcome === 'malformed') {
          unreadable += 1;
          await writeError(`${requestId} cannot be read: ${loaded.problem}\n`);
        }
        // The request may have been settled meanwhile.
        if (loaded.outcome !== 'found' || !['pending', 'unknown'].includes(loaded.request.state)) continue;
        if (values.json) await write(`${JSON.stringify(describeRequest(loaded.request))}\n`);
        else rows.push(await toRow(loaded.request, names));
      }
      if (rows.length === 0 && values.json !== true) await write('Nothing waits for people.\n');
      if (rows.length > 0) for (const line of formatTable([HEADINGS, ...rows])) await write(`${line}\n`);
      return unreadable === 0 ? EXIT.ok : EXIT.problem;
    });
  },
};

async function toRow(request: RequestRecord, names: PeopleNames): Promise<string[]> {
  const { input, waitsFor, requesters } = describeRequest(request);
  const nameAll = async (ids: readonly string[]) =>
    (await Promise.all(ids.map((id) => names.nameOf(id)))).join(', ');
  return [
    phaseOf(request),
    titleOf(request),
    cut(JSON.stringify(input), MAX_INPUT_LENGTH),
    await nameAll(requesters),
    await nameAll(waitsFor),
    request.state === 'unknown' ? '' : timeOf(request.expiresAt),
    request.id,
  ].map(showLine);
}

/** Shows everything that the record holds of one request. */
export const show: Command = {
  help: `Usage: countersign show <request> [--json]

Prints one request: what would run, who asked, who approves, the votes, when it started, its attempts, its idempotency key
and the outcome. Only REDIS_URL is
needed; with SLACK_BOT_TOKEN people are shown by name.

  --json         print one JSON object, with ids

Exit code: 0 shown, 1 there is no such request or it cannot be read, 2 wrong usage.
`,
  async run(args, context) {
    const { values, positionals } = readOptions(args, { json: { type: 'boolean' } }, { positionals: 1 });
    const requestId = requestArgument(positionals);
    const { request, starts } = await withRecord(context, async ({ store }) => {
      const loaded = await requireRequest(store, requestId);
      return { request: loaded, starts: loaded.attempts === 0 ? [] : await startsOf(store, requestId) };
    });
    if (values.json) {
      const { votes, attempts, by = null, payload = null, settledAt } = request;
      const rest = {
        votes,
        attempts,
        by,
        payload,
        startedAt: starts.map(timeOf),
        idempotencyKey: readDetails(request)?.idempotencyKey ?? null,
        settledAt: settledAt === undefined ? null : timeOf(settledAt),
      };
      await context.write(`${JSON.stringify({ ...describeRequest(request), ...rest })}\n`);
      return EXIT.ok;
    }
    const rows = await toRows(request, starts, new PeopleNames(context.environment));
    for (const line of formatTable(rows)) await context.write(`${line}\n`);
    return EXIT.ok;
  },
};

/** Returns when the attempts of a request started, from the audit log; rows that were removed from Redis are missing. */
async function startsOf(store: Store, requestId: string): Promise<number[]> {
  const starts: number[] = [];
  for await (const { event, subject, at } of store.exportAudit())
    if (subject === requestId && event === 'started') starts.push(at);
  return starts;
}

async function toRows(
  request: RequestRecord,
  starts: readonly number[],
  names: PeopleNames,
): Promise<string[][]> {
  const nameAll = async (ids: readonly string[]) =>
    (await Promise.all(ids.map((id) => names.nameOf(id)))).join(', ');
  const { requesters, principals, policy, votes, attempts, state, settledAt, by = '' } = request;
  const maxAttempts = request.execution.idempotent ? request.execution.maxAttempts : 1;
  const details = readDetails(request);
  const call = details?.interrupt.toolRequest;
  const rows: (readonly [string, string | undefined])[] = [
    ['request', request.id],
    ['what', titleOf(request)],
    ['tool', call?.name],
    ['state', phaseOf(request)],
    ['requested by', await nameAll(requesters)],
    ['edited by', details?.facets.edit && (await names.nameOf(details.facets.edit.by))],
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
    ['approved at', request.decidedAt === undefined ? undefined : timeOf(request.decidedAt)],
    ...starts.map((at) => ['started at', timeOf(at)] as const),
    ['attempts', request.kind === 'approval' ? `${attempts} of ${maxAttempts}` : undefined],
    ['idempotency key', details?.idempotencyKey],
    ['ended at', settledAt === undefined ? undefined : timeOf(settledAt)],
    // Before its end, the same field names the last person who did something.
    ['ended by', settledAt === undefined || by === '' ? undefined : await names.nameOf(by)],
    ['outcome', request.payload === '' ? undefined : request.payload],
    ["agent's explanation (unverified)", details?.facets.why],
    ['arguments', JSON.stringify(call?.input ?? null)],
  ];
  return rows.flatMap(([name, value]) => (value === undefined ? [] : [[name, showLine(value)]]));
}

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
      const end = { state: 'withdrawn', who, evidence, reason, isOperator: true } as const;
      const result = await store.end(requestId, end);
      const { outcome } = result;
      const isDone = outcome === 'ended';
      if (values.json) await context.write(`${JSON.stringify({ ok: isDone, ...result })}\n`);
      else if (!isDone) throw new Failure(`${requestId} is not cancelled: ${refusalOf(result)}`);
      else await context.write(`cancelled: ${titleOf(request)}\n`);
      return isDone ? EXIT.ok : EXIT.problem;
    });
  },
};

const VERDICTS = ['ran', 'did-not-run'] as const;
const DONE: Readonly<Record<(typeof VERDICTS)[number], string>> = {
  ran: 'on record: it ran',
  'did-not-run': 'on record: it did not run',
};

/** Records the outcome of an action when it is unknown, under the guards of the same click in Slack. */
export const resolve: Command = {
  help: `Usage: countersign resolve <request> --ran|--did-not-run --reason TEXT [--as NAME] [--json]

Ends a request whose outcome is unknown: the worker stopped in the middle of it. Find out first, in the system that it
changes, whether it took effect.

  --ran          it took effect
  --did-not-run  it took no effect
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
      },
      { positionals: 1 },
    );
    const requestId = requestArgument(positionals);
    const [verdict, second] = VERDICTS.filter((name) => values[name] === true);
    if (verdict === undefined || second !== undefined)
      throw new UsageError('give one of --ran and --did-not-run');
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

/** Describes a request for machines: what would run, for whom, who decides, and how far it is. */
function describeRequest(request: RequestRecord) {
  const { id, kind, state, threadId, requester, requesters, principals, policy } = request;
  const call = readDetails(request)?.interrupt.toolRequest;
  return {
    id,
    kind,
    state,
    title: titleOf(request),
    tool: call?.name ?? null,
    input: call?.input ?? null,
    threadId,
    requester,
    requesters,
    waitsFor: state === 'unknown' ? policy.resolvers : principals,
    approvals: countedApprovals(request),
    quorum: policy.quorum,
    createdAt: timeOf(request.createdAt),
    expiresAt: state === 'unknown' ? null : timeOf(request.expiresAt),
  };
}

/** Says in which phase a request is: the votes it has, or that its outcome is unknown. */
function phaseOf(request: RequestRecord): string {
  const { kind, state, policy } = request;
  if (state !== 'pending') return stateWordOf(request);
  return kind === 'approval' ? `approval (${countedApprovals(request)} of ${policy.quorum})` : kind;
}

function timeOf(at: number): string {
  return new Date(at).toISOString();
}

/** Loads a request that must be there; one that cannot be read or does not exist is a `Failure`. */
async function requireRequest(store: Store, requestId: string): Promise<RequestRecord> {
  const loaded = await store.load(requestId);
  switch (loaded.outcome) {
    case 'found':
      return loaded.request;
    case 'malformed':
      throw new Failure(`${requestId} cannot be read: ${loaded.problem}`);
    case 'unknown':
      throw new Failure(`there is no request ${requestId}; "countersign pending" lists what waits`);
  }
}
