import { showLine } from '../bot/views/texts/show-text.ts';
import { readSettings } from '../settings.ts';
import { proxyProblems } from '../tools/http/proxy.ts';
import { checkAudit } from './checks/check-audit.ts';
import { checkCards } from './checks/check-cards.ts';
import { checkFiles } from './checks/check-files.ts';
import { checkPasskeys } from './checks/check-passkeys.ts';
import { checkPeople } from './checks/check-people.ts';
import { checkConnections, checkModel, checkPage, checkRedis, checkSlack } from './checks/check-services.ts';
import { checkTools } from './checks/check-tools.ts';
import { describeFinding, type Finding, failed, notChecked, ok } from './checks/finding.ts';
import { checkManifest } from './checks/inspect-manifest.ts';
import { checkLive, type LiveFinding } from './live/live.ts';
import { type Command, EXIT, formatTable, readOptions } from './shared/command.ts';

const MARKS: Readonly<Record<Finding['status'], string>> = {
  ok: 'ok     ',
  warning: 'warning',
  failed: 'FAILED ',
  'not-checked': '-      ',
};

/** Checks everything that the bot needs, changes nothing but comments of the manifest where that is asked for, and prints for each whether it works or how to fix it. */
export const doctor: Command = {
  help: `Usage: countersign doctor [--without-tools] [--fix-names] [--cards] [--live CHANNEL] [--json]

Checks what the bot needs, a line each: settings, manifest, Redis, its persistence and whether it takes writes, work
that waits too long, Slack's tokens, the scopes of the app against those of the manifest, that every id of the manifest
exists, is active and of the right kind, that enough people can approve and have the passkeys that policies want, the
clocks of Slack, Redis and this machine, each model (it is asked to call a harmless tool with the parameters of the
manifest, and looked up in its provider's list), that every module loads, every MCP server starts and every host
resolves, that rules fit their tools, that people can connect their accounts where a server wants them, and that the
audit log is signed and its sinks answer. Checks that depend on something missing are skipped.

  --without-tools  leave the tools out, for example before their libraries are installed
  --fix-names      write the names of people and user groups into the manifest, as comments beside their ids
  --cards          ask Slack whether it takes the cards and details of the requests that wait, up to 50; nothing is posted
  --live CHANNEL   try in this channel, as #name or id, all that the bot does in Slack: cards, modals and Home in every state are
                   validated; one thread is posted, read back, compared and deleted; an admin gets a direct message. A table
                   says what differs, what it means for people and what to do
  --json           print one JSON object: ok, findings (check, status, severity, message, place, fix)

Exit code: 0 all checks passed (warnings do not count), 1 some did not, 2 wrong usage.
`,
  async run(args, context) {
    const { values } = readOptions(args, {
      json: { type: 'boolean' },
      'without-tools': { type: 'boolean' },
      'fix-names': { type: 'boolean' },
      cards: { type: 'boolean' },
      live: { type: 'string' },
    });
    const { environment, write } = context;
    const all: Finding[] = [];
    const report = async (findings: readonly Finding[]): Promise<void> => {
      all.push(...findings);
      if (values.json) return;
      for (const finding of findings)
        await write(`${MARKS[finding.status]}  ${finding.check}: ${showLine(describeFinding(finding))}\n`);
    };
    await report(checkSettings(environment));
    const { findings, loaded } = await checkManifest(environment);
    await report(findings);
    await report(checkFiles(loaded?.manifest));
    await report(await checkRedis(context));
    // Nothing is asked around a proxy.
    if (proxyProblems(environment).length > 0)
      await report([notChecked('slack, model, tools, audit', 'a proxy is no address')]);
    else {
      await report(await checkSlack(environment, loaded?.manifest));
      await report(await checkPeople(environment, loaded, { fixesNames: values['fix-names'] === true }));
      await report(await checkPasskeys(context, loaded));
      if (values.cards === true) await report(await checkCards(context));
      if (values.live !== undefined) {
        const found = await checkLive(values.live, environment, loaded?.manifest.agent.admins[0]);
        await report(found);
        if (values.json !== true) await write(tableOf(found));
      }
      await report(await checkModel(environment, loaded?.manifest));
      if (values['without-tools'] !== true) await report(await checkTools(loaded, environment));
      await report(await checkConnections(environment, loaded));
      await report(checkPage(environment, loaded));
      await report(await checkAudit(context, loaded));
    }
    const isOk = all.every(({ status }) => status === 'ok' || status === 'warning');
    if (values.json) await write(`${JSON.stringify({ ok: isOk, findings: all.map(withSeverity) })}\n`);
    return isOk ? EXIT.ok : EXIT.problem;
  },
};

/** Writes what differs in Slack as a table. */
function tableOf(found: readonly LiveFinding[]): string {
  const rows = found.filter(({ means }) => means !== undefined);
  if (rows.length === 0) return '';
  const cells = rows.map(({ check, message, means = '', fix = '' }) =>
    [check.replace(/^live /, ''), message, means, fix].map(showLine),
  );
  return `\n${formatTable([['WHAT', 'DIFFERS', 'FOR PEOPLE', 'WHAT TO DO'], ...cells]).join('\n')}\n\n`;
}

function withSeverity(finding: Finding) {
  const severity = { failed: 'error', warning: 'warning', ok: undefined, 'not-checked': undefined };
  return { ...finding, severity: severity[finding.status] };
}

/** Names every setting that is missing or wrong. */
function checkSettings(environment: NodeJS.ProcessEnv): Finding[] {
  const read = readSettings(environment);
  if (read.ok) return [ok('settings', 'all required settings are set')];
  return read.problems.map((problem) =>
    failed('settings', problem, { fix: 'put it into .env or the environment' }),
  );
}
