import { timeOf } from '../../audit/export-line.ts';
import { readExport } from '../replay/logged-row.ts';
import { Replay } from '../replay/replay.ts';
import { describeReplay, limitsOf } from '../replay/report.ts';
import {
  type Command,
  type CommandContext,
  EXIT,
  parseTime,
  readOptions,
  UsageError,
} from '../shared/command.ts';
import { withRecord } from '../shared/open-record.ts';
import { withToolbox } from '../shared/with-toolbox.ts';

const OPTIONS = {
  since: { type: 'string' },
  from: { type: 'string' },
  json: { type: 'boolean' },
} as const;

/** Compares what happened to the calls of the audit log with what a candidate manifest would do. Nothing runs, nothing is written. */
export const manifestReplay: Command = {
  help: `Usage: countersign manifest replay <candidate.yml> [--since <time>] [--from <export>] [--json]

Judges every request and every effect without approval of the audit log by another manifest, at the time of the call, and
lists what would change: what is asked or denied that was not, and the other way round, and other approvers. Then how often
and how fast people approved each rule, rules to consider, and what the log cannot tell. Nothing runs, nobody is asked, and
the record is only read. Modules are loaded and servers are connected to, as at a start. Without --from it needs REDIS_URL.

  <candidate.yml>    the manifest to try
  --since TIME       only calls from this time on: 2026-01-31, 2026-01-31T12:00:00Z, or an age such as 30d
  --from FILE        replay an export of the audit log instead of Redis; join rotated files in their order first
  --json             print one JSON object: calls, changes, groups, rules, consider, unknown

Exit code: 0 replayed, 1 the candidate or the log has errors, 2 wrong usage.
`,
  async run(args, context) {
    const { values, positionals } = readOptions(args, OPTIONS, { positionals: 1 });
    const [candidate] = positionals;
    if (candidate === undefined) throw new UsageError('name the manifest to try');
    const since = parseTime('--since', values.since);
    return withToolbox(candidate, context.environment, async (toolbox) => {
      const replay = new Replay(toolbox, since);
      const trimmed =
        values.from === undefined
          ? await replayRecord(replay, context)
          : await replayExport(replay, values.from);
      const result = replay.result();
      const log = { trimmed, problems: toolbox.problems() };
      const { from, until, unknown, missingTools, ...rest } = result;
      await context.write(
        values.json === true
          ? `${JSON.stringify({
              candidate,
              ...(from !== undefined && { from: timeOf(from) }),
              ...(until !== undefined && { until: timeOf(until) }),
              ...rest,
              unknown: { ...unknown, missingTools, words: limitsOf(result, log) },
            })}\n`
          : describeReplay(result, log),
      );
      return EXIT.ok;
    });
  },
};

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
