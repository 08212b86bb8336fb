import { timeOf } from '../../audit/export-line.ts';
import { showLine } from '../../bot/views/texts/show-text.ts';
import { readExport } from '../replay/logged-row.ts';
import { CHANGES, Replay, type ReplayResult } from '../replay/replay.ts';
import {
  type Command,
  type CommandContext,
  EXIT,
  formatTable,
  parseTime,
  readOptions,
} from '../shared/command.ts';
import { manifestFile } from '../shared/load-manifest.ts';
import { withRecord } from '../shared/open-record.ts';
import { withToolbox } from '../shared/with-toolbox.ts';

const OPTIONS = {
  since: { type: 'string' },
  from: { type: 'string' },
  json: { type: 'boolean' },
} as const;

/** Compares what happened to the calls of the audit log with what a manifest would do. Nothing runs, nothing is written. */
export const manifestReplay: Command = {
  help: `Usage: countersign manifest replay [file] [--since <time>] [--from <export>] [--json]

Judges every request and every effect without approval of the audit log by a manifest, at the time of the call, and lists
what would be decided differently: what is asked or denied that was not, the other way round, and other approvers. Nothing
runs, nobody is asked, and the record is only read. Modules are loaded and servers are connected to, as at a start. Without
--from it needs REDIS_URL.

  <file>             the manifest to try (default: MANIFEST or manifest.yml)
  --since TIME       only calls from this time on: 2026-01-31, 2026-01-31T12:00:00Z, or an age such as 30d
  --from FILE        replay an export of the audit log instead of Redis; join rotated files in their order first
  --json             print one JSON object: calls, changes, groups, notes

Exit code: 0 replayed, 1 the manifest or the log has errors, 2 wrong usage.
`,
  async run(args, context) {
    const { values, positionals } = readOptions(args, OPTIONS, { positionals: 1 });
    const since = parseTime('--since', values.since);
    const file = manifestFile(context.environment, positionals[0]);
    return withToolbox(file, context.environment, async (toolbox) => {
      const replay = new Replay(toolbox, since);
      const trimmed =
        values.from === undefined
          ? await replayRecord(replay, context)
          : await replayExport(replay, values.from);
      const { unreadable, ...result } = replay.result();
      const notes = [
        ...(unreadable === 0 ? [] : [`${calls(unreadable)}: the row is erased or cannot be read`]),
        ...(trimmed === 0
          ? []
          : [`${trimmed} rows have left Redis; replay an export (--from) to include them`]),
        ...toolbox.problems().map((problem) => `a tool of the manifest does not work here: ${problem}`),
      ];
      await context.write(
        values.json === true ? `${JSON.stringify({ ...result, notes })}\n` : describe(result, notes),
      );
      return EXIT.ok;
    });
  },
};

function calls(count: number): string {
  return count === 1 ? '1 call' : `${count} calls`;
}

/** Writes the result of a replay for people. */
function describe(
  { calls: total, changes, groups }: Omit<ReplayResult, 'unreadable'>,
  notes: readonly string[],
): string {
  const changed = groups.filter(({ change }) => change !== 'same');
  const rows = changed.map(({ change, tool, before, after, calls, first }) =>
    [String(calls), CHANGES[change], tool, before, after, `${timeOf(first.at)} ${first.subject}`].map(
      showLine,
    ),
  );
  const headings = ['calls', 'change', 'tool', 'then', 'with this manifest', 'first of them'];
  const summary =
    changes.same === total ? 'none would be decided differently' : `${total - changes.same} listed here`;
  const lines = [
    total === 0 ? 'There is no call on the log in this time.' : `${calls(total)} judged; ${summary}.`,
    ...(changed.length === 0 ? [] : ['', ...formatTable([headings, ...rows], [0])]),
    ...(notes.length === 0 ? [] : ['', ...notes.map(showLine)]),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

/** Replays the audit log in Redis, and returns how many of its rows are not there any more. */
async function replayRecord(replay: Replay, context: CommandContext): Promise<number> {
  return withRecord(context, async ({ store }) => {
    const { base } = await store.auditEnds();
    for await (const row of store.exportAudit(base.seq)) await replay.add(row);
    return base.seq;
  });
}

async function replayExport(replay: Replay, file: string): Promise<number> {
  for await (const row of readExport(file, (erased) => replay.addErased(erased))) await replay.add(row);
  return 0;
}
