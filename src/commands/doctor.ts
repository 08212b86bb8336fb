import { showLine } from '../bot/cards/show-text.ts';
import { checkAudit } from './checks/check-audit.ts';
import { checkManifest } from './checks/check-manifest.ts';
import { checkModel } from './checks/check-model.ts';
import { checkRedis } from './checks/check-redis.ts';
import { checkSettings } from './checks/check-settings.ts';
import { checkSlack } from './checks/check-slack.ts';
import { checkTools } from './checks/check-tools.ts';
import type { Finding } from './checks/finding.ts';
import { type Command, EXIT } from './shared/command.ts';
import { readOptions } from './shared/options.ts';

const MARKS: Readonly<Record<Finding['status'], string>> = {
  ok: 'ok     ',
  warning: 'warning',
  failed: 'FAILED ',
  'not-checked': '-      ',
};

/** Looks at everything the bot needs, changes nothing, and says a line for each: well, or how to mend it. */
export const doctor: Command = {
  help: `Usage: countersign doctor [--json]

Checks what the bot needs, a line each: settings, manifest, Redis and how it keeps its data, Slack's tokens, the
scopes that were granted against those of the manifest, the model (it is asked one short question), and that every
module loads and every MCP server comes up. What depends on something missing is not checked.

  --json         print one JSON object: ok, findings

Exit code: 0 all is well (warnings do not count), 1 something is not, 2 not understood.
`,
  async run(args, context) {
    const { values } = readOptions(args, { json: { type: 'boolean' } });
    const { environment, write } = context;
    const all: Finding[] = [];
    const tell = async (findings: readonly Finding[]): Promise<void> => {
      all.push(...findings);
      if (values.json) return;
      for (const { check, status, message } of findings)
        await write(`${MARKS[status]}  ${check}: ${showLine(message)}\n`);
    };
    await tell(checkSettings(environment));
    const { findings, loaded } = await checkManifest(environment);
    await tell(findings);
    await tell(await checkRedis(context));
    await tell(await checkSlack(environment, loaded?.manifest));
    await tell(await checkModel(environment, loaded?.manifest));
    await tell(await checkTools(loaded));
    await tell(await checkAudit(context, loaded));
    const ok = all.every(({ status }) => status === 'ok' || status === 'warning');
    if (values.json) await write(`${JSON.stringify({ ok, findings: all })}\n`);
    return ok ? EXIT.ok : EXIT.problem;
  },
};
