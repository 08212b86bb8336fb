import { cut, showLine } from '../../bot/cards/values/show-text.ts';
import { freezeTexts } from '../../bot/texts/freezes.ts';
import type { RequestRecord } from '../../store/port/store.ts';
import { readWaiting } from '../../store/redis/verbs/read-waiting.ts';
import { PeopleNames } from '../audit/audit-view.ts';
import { type Command, EXIT } from '../shared/command.ts';
import { withRecord } from '../shared/open-record.ts';
import { readOptions } from '../shared/options.ts';
import { formatTable } from '../shared/table.ts';
import { describeRequest, phaseOf, timeOf, titleOf } from './request-view.ts';

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
