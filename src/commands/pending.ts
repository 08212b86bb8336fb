import { titleOf } from '../bot/cards/card-details.ts';
import { cut, showLine } from '../bot/cards/show-text.ts';
import { readDetails } from '../bot/requests/request-details.ts';
import type { RequestRecord } from '../store/port/store.ts';
import { readWaiting } from '../store/redis/verbs/read-waiting.ts';
import { type Command, EXIT } from './shared/command.ts';
import { withRecord } from './shared/open-record.ts';
import { readOptions } from './shared/options.ts';

const MAX_INPUT_LENGTH = 100;

/** Lists every request that waits for people. */
export const pending: Command = {
  help: `Usage: countersign pending [--json]

Prints a line for each request that waits: for an approval, an answer, or someone to confirm the outcome of an action
when it is unknown. Only REDIS_URL is needed.

  --json         print one JSON object per line

Exit code: 0 also if nothing waits, 1 a request or Redis cannot be read, 2 wrong usage.
`,
  async run(args, context) {
    const { values } = readOptions(args, { json: { type: 'boolean' } });
    const { write, writeError } = context;
    return withRecord(context, async ({ store, client, prefix }) => {
      let unreadable = 0;
      for await (const requestId of readWaiting(client, prefix)) {
        const loaded = await store.load(requestId);
        if (loaded.outcome === 'malformed') {
          unreadable += 1;
          await writeError(`${requestId} cannot be read: ${loaded.problem}\n`);
        }
        // The request may have been settled meanwhile.
        if (loaded.outcome !== 'found' || !['pending', 'unknown'].includes(loaded.request.state)) continue;
        const shown = describe(loaded.request);
        await write(`${values.json ? JSON.stringify(shown) : formatRequest(shown)}\n`);
      }
      return unreadable === 0 ? EXIT.ok : EXIT.problem;
    });
  },
};

function describe(request: RequestRecord) {
  const { id, kind, state, threadId, requester, principals, policy, approvals, createdAt, expiresAt } =
    request;
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
    waitsFor: state === 'unknown' ? policy.resolvers : principals,
    approvals,
    quorum: policy.quorum,
    createdAt: new Date(createdAt).toISOString(),
    expiresAt: state === 'unknown' ? null : new Date(expiresAt).toISOString(),
  };
}

function formatRequest(shown: ReturnType<typeof describe>): string {
  const {
    id,
    kind,
    state,
    title,
    tool,
    input,
    requester,
    waitsFor,
    approvals,
    quorum,
    createdAt,
    expiresAt,
  } = shown;
  const progress = kind === 'approval' && state === 'pending' ? ` (${approvals} of ${quorum})` : '';
  return [
    state === 'unknown' ? 'unknown outcome' : `${kind}${progress}`,
    title,
    `${showLine(tool ?? 'unknown tool')} ${cut(showLine(JSON.stringify(input)), MAX_INPUT_LENGTH)}`,
    `requested by ${requester} at ${createdAt}`,
    `waits for ${waitsFor.join(', ')}${expiresAt === null ? '' : ` until ${expiresAt}`}`,
    id,
  ].join('  ');
}
