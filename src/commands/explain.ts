import { type JsonValue, toJson, tryParseJson } from '../agent/json.ts';
import { type FirstOf, firstTimesGiven } from '../policy/first-times.ts';
import { callerNamed } from '../tools/callers.ts';
import { describeJudged, type JudgedCall, judgeCall } from '../tools/judge-call.ts';
import { type Command, EXIT, Failure, readOptions, UsageError } from './shared/command.ts';
import { manifestFile } from './shared/load-manifest.ts';
import { unknownTool, withToolbox } from './shared/with-toolbox.ts';

const OPTIONS = {
  as: { type: 'string' },
  groups: { type: 'string' },
  first: { type: 'string' },
  channel: { type: 'string' },
  at: { type: 'string' },
  manifest: { type: 'string' },
  json: { type: 'boolean' },
} as const;

/** Says what the rules of the manifest would do with a call. Nothing runs, and nobody is asked. */
export const explain: Command = {
  help: `Usage: countersign explain <tool> <arguments> --as <person> [--groups <ids>] [--first <list>] [--channel <id>]
                            [--at <time>] [--manifest <file>] [--json]

Says what the rules would do with a call: run it, ask for approval and whose, or deny it; which rule decides, what each
rule said, which limits count it, and how long people have. Nothing runs, and nobody is asked. Modules are loaded and servers are connected to, as at a start.

  <arguments>        the arguments of the call, as JSON
  --as PERSON        the requester, such as U012ABCDEF; of a caller, caller:NAME
  --groups IDS       the user groups of the requester, separated by commas; without it nobody is known to be in one
  --first LIST       which of tool, target and pair are first times, separated by commas, or none; without it nobody knows
  --channel ID       the channel (optional)
  --at TIME          the time of the call, such as 2026-11-16T09:30:00Z (default: now)
  --manifest FILE    the manifest (default: MANIFEST or manifest.yml)
  --json             print one JSON object

Exit code: 0 explained, 1 there is no such tool, or it would refuse the arguments, 2 wrong usage.
`,
  async run(args, { environment, write }) {
    const { values, positionals } = readOptions(args, OPTIONS, { positionals: 2 });
    const [name, text] = positionals;
    if (name === undefined || text === undefined) throw new UsageError('name the tool and its arguments');
    if (values.as === undefined) throw new UsageError('--as is missing: say who asks');
    const input = tryParseJson(text);
    if (input === undefined) throw new UsageError('the arguments are not JSON');
    const now = readTime(values.at);
    const groups = values.groups?.split(',').map((id) => id.trim());
    const { as, channel } = values;
    const beside = { contextAuthors: [], groupsOf: () => groups, firstOf: readFirst(values.first) };
    return withToolbox(manifestFile(environment, values.manifest), environment, async (toolbox) => {
      const caller = toolbox.callers().get(callerNamed(as) ?? '');
      const requesters = caller === undefined ? [as] : [caller.owner, as];
      const place = { ...beside, requesters, channel: channel ?? caller?.channel ?? '' };
      const judged = await judgeCall(toolbox, { tool: name, input: toJson(input), now, ...place });
      if (judged === undefined) throw unknownTool(toolbox, name);
      const fit = toolbox.find(name)?.tool.inputSchema.parse(toJson(input));
      if (fit?.ok === false) {
        const field = fit.field === '' ? '' : `${fit.field}: `;
        throw new Failure(`the tool does not accept these arguments: ${field}${fit.problem}`);
      }
      await write(values.json === true ? `${JSON.stringify(toReport(judged))}\n` : describeJudged(judged));
      return EXIT.ok;
    });
  },
};

function readTime(text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) throw new UsageError(`--at needs a time, but got "${text}"`);
  return time;
}

/** Reads which first times a call has; all three are known then. */
function readFirst(text: string | undefined): FirstOf | undefined {
  if (text === undefined) return undefined;
  const listed = text.split(',').map((word) => word.trim());
  const wrong = listed.find((word) => !['tool', 'target', 'pair', 'none'].includes(word));
  if (wrong !== undefined)
    throw new UsageError(`--first takes tool, target, pair or none, but got "${wrong}"`);
  return firstTimesGiven(listed);
}

function toReport({ explanation, policy, risk }: JudgedCall): JsonValue {
  const { verdict, steps } = explanation;
  return toJson({
    ...verdict,
    ...(policy !== undefined && { groups: policy.groups, excluded: policy.excluded, risk }),
    ...(policy?.delegation === true && { delegation: true }),
    steps: steps.map(({ number, result }) => ({ number, result })),
  });
}
