import { dirname, resolve } from 'node:path';
import { runningTitle } from '../../bot/views/cards/card-details.ts';
import { freezeTexts } from '../../bot/views/texts/freezes.ts';
import { showLine } from '../../bot/views/texts/show-text.ts';
import { endFreeze, freezeActions } from '../../engine/asks/freeze-actions.ts';
import { readDetails } from '../../engine/request-details.ts';
import { readDelegations } from '../../store/documents/delegations.ts';
import type { Store } from '../../store/port/store.ts';
import { ALL_TOOLS } from '../../store/port/workspace.ts';
import { readWaiting } from '../../store/redis/verbs/read-waiting.ts';
import { callerId } from '../../tools/callers.ts';
import { writtenTools } from '../../tools/manifest/checks/check-uses.ts';
import { describeUnknownTool } from '../../tools/manifest/problem.ts';
import { readLocalTools } from '../checks/inspect-uses.ts';
import { type Command, EXIT, Failure, formatTable, readOptions, UsageError } from '../shared/command.ts';
import { manifestFile, readManifest } from '../shared/load-manifest.ts';
import { withRecord } from '../shared/open-record.ts';
import { accountName, OPERATOR_HELP, OPERATOR_OPTIONS, readOperator } from './operator.ts';

/** Stops every new action, or those of one tool, in all processes. */
export const freeze: Command = {
  help: `Usage: countersign freeze [tool | caller:NAME] [--model] --reason TEXT [--as NAME] [--force] [--json]

Stops new actions of the tool or the caller (or of all tools, if none is given) from starting in any process, even if
approved. Running actions finish and are listed. Requests stay as they are, and approvals still count. Only REDIS_URL is
needed. A name that neither the manifest, its modules, its lock file nor a waiting request has is refused, because a
mistyped one would freeze nothing.

  --model        with all tools: freeze the model too. Its running calls are ended, none starts, and each thread is told once
  --force        freeze this name although there is no such tool here
${OPERATOR_HELP}

See "countersign unfreeze" to end it, and "countersign pending" for what is frozen.
Exit code: 0 frozen, also if it was before, 1 there is no such tool, or Redis cannot be reached, 2 wrong usage.
`,
  async run(args, context) {
    const { values, positionals } = readOptions(
      args,
      { ...OPERATOR_OPTIONS, force: { type: 'boolean' }, model: { type: 'boolean' } },
      { positionals: 1 },
    );
    const [named = ALL_TOOLS] = positionals;
    const withModel = values.model === true;
    const scope = withModel && named === 'all' ? ALL_TOOLS : named;
    if (withModel && scope !== ALL_TOOLS) throw new UsageError('the model can only be frozen with all tools');
    const { who, evidence, reason } = await readOperator(values, context);
    return withRecord(context, async ({ store, client, prefix }) => {
      if (scope !== ALL_TOOLS && values.force !== true) {
        const { freezes } = await store.readFreezes();
        const known = [
          ...freezes.map((freeze) => freeze.scope),
          ...(await toolsOfManifest(context.environment)),
          ...(await toolsOfRequests(store, readWaiting(client, prefix))),
        ];
        if (!known.includes(scope)) {
          const names = [...new Set(known)].filter((name) => name !== ALL_TOOLS);
          throw new Failure(
            `${describeUnknownTool(scope, names)}; nothing is frozen (--force freezes it anyway)`,
          );
        }
      }
      const freezer = { who, id: evidence.click, reason, evidence };
      const { outcome, running: actions } = await freezeActions(store, scope, freezer, { withModel });
      const running = actions.map(runningTitle);
      const frozen = `${freezeTexts.frozen(scope, running)}${withModel ? freezeTexts.withModel : ''}`;
      const text = outcome === 'frozen' ? frozen : freezeTexts.alreadyFrozen(scope, running);
      await context.write(values.json ? `${JSON.stringify({ ok: true, outcome, running })}\n` : `${text}\n`);
      return EXIT.ok;
    });
  },
};

/** Ends a freeze, on record as the operator. */
export const unfreeze: Command = {
  help: `Usage: countersign unfreeze [tool] --reason TEXT [--as NAME] [--json]

Ends the freeze of a tool; without a tool, the freeze of all tools, and that of the model with it. Approved actions start if "start_within" of their policy
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
      const { outcome } = await endFreeze(store, { ...vote, eligible: true, quorum: 1, stillEligible: [] });
      const isDone = outcome === 'unfrozen';
      if (values.json) await context.write(`${JSON.stringify({ ok: isDone, outcome })}\n`);
      else if (!isDone) throw new Failure(freezeTexts.notFrozen(scope));
      else await context.write(`${freezeTexts.unfrozen(scope)}\n`);
      return isDone ? EXIT.ok : EXIT.problem;
    });
  },
};

/** Lists the tools of the manifest as far as this machine knows them; a manifest that cannot be read has none. */
async function toolsOfManifest(environment: NodeJS.ProcessEnv): Promise<string[]> {
  const file = manifestFile(environment);
  const parsed = await readManifest(file, environment).catch(() => undefined);
  const readable = parsed?.ok === false ? parsed.readable : parsed;
  if (readable === undefined) return [];
  const { manifest, written } = readable;
  const local = await readLocalTools(manifest, dirname(resolve(file)));
  const tools = [...local.tools.values(), ...writtenTools(written).values()].flat();
  return [...tools.map(({ name }) => name), ...[...manifest.callers.keys()].map(callerId)];
}

/** Lists the tools of the requests that wait: one of them may have left the manifest. */
async function toolsOfRequests(store: Store, waiting: AsyncIterable<string>): Promise<string[]> {
  const names = new Set<string>();
  for await (const requestId of waiting) {
    const loaded = await store.load(requestId);
    const call = loaded.outcome === 'found' ? readDetails(loaded.request) : undefined;
    if (call !== undefined) names.add(call.interrupt.toolRequest.name);
  }
  return [...names];
}

const HEADINGS = ['for', 'decides', 'since', 'until', 'reason'];

/** Lists who decides for whom. */
export const delegations: Command = {
  help: `Usage: countersign delegations [--json]

Prints the delegations that hold: who decides for whom, since when, until when, and why. Only REDIS_URL is needed. People give
and end them in Slack, with "/countersign delegate"; admins can end those of others with "/countersign delegations".

  --json         print one JSON object per line

Exit code: 0 also if there are none, 1 Redis cannot be read, 2 wrong usage.
`,
  async run(args, context) {
    const { values } = readOptions(args, { json: { type: 'boolean' } });
    return withRecord(context, async ({ store }) => {
      const held = await readDelegations(store);
      const rows = held.map(({ from, to, startedAt, until, reason }) =>
        [from, to, time(startedAt), time(until), reason].map(showLine),
      );
      const table =
        rows.length === 0 ? ['Nobody decides for anybody else.'] : formatTable([HEADINGS, ...rows]);
      const lines = values.json ? held.map((each) => JSON.stringify(each)) : table;
      for (const line of lines) await context.write(`${line}\n`);
      return EXIT.ok;
    });
  },
};

function time(moment: number): string {
  return new Date(moment).toISOString().slice(0, 16).replace('T', ' ');
}

/** Lists the quarantined threads. */
export const threads: Command = {
  help: `Usage: countersign threads [--json]

Prints a line for each quarantined thread: since when, its id and the reason. The bot does not continue such a thread
until "countersign retry" releases it. Only REDIS_URL is needed.

  --json         print one JSON object per line

Exit code: 0 also if there is none, 1 Redis cannot be read, 2 wrong usage.
`,
  async run(args, context) {
    const { values } = readOptions(args, { json: { type: 'boolean' } });
    return withRecord(context, async ({ store }) => {
      const quarantined = await store.listQuarantined();
      if (quarantined.length === 0 && values.json !== true)
        await context.write('No thread is quarantined.\n');
      for (const { threadId, reason, since } of quarantined) {
        const time = new Date(since).toISOString();
        const line = values.json
          ? JSON.stringify({ threadId, reason, since: time })
          : `${time}  ${threadId}  ${showLine(reason)}`;
        await context.write(`${line}\n`);
      }
      return EXIT.ok;
    });
  },
};

/** Lets the bot continue a quarantined thread. */
export const retry: Command = {
  help: `Usage: countersign retry <thread>

Releases a quarantined thread ("countersign threads" lists them), so that the bot continues it. If it fails again, it is
quarantined again. The release goes into the audit log. Only REDIS_URL is needed.

Exit code: 0 released, 1 the thread is not quarantined, 2 wrong usage.
`,
  async run(args, context) {
    const [threadId] = readOptions(args, {}, { positionals: 1 }).positionals;
    if (threadId === undefined) throw new UsageError('name a thread; "countersign threads" lists them');
    return withRecord(context, async ({ store }) => {
      const { outcome } = await store.unquarantine(threadId, {
        by: accountName(),
        with: 'countersign retry',
      });
      if (outcome === 'unquarantined') {
        await context.write(`${threadId} is released\n`);
        return EXIT.ok;
      }
      await context.writeError(`${threadId} is not quarantined\n`);
      return EXIT.problem;
    });
  },
};
