import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Suite, Tally } from './suite.ts';

const PAGE = fileURLToPath(new URL('../docs/evidence/proof.md', import.meta.url));

/** The lines about one suite on the page. */
export interface Outcome {
  readonly row: string;
  readonly reasons: readonly string[];
  readonly report: readonly string[];
}

export const HEAD = [
  '| suite | version | run on | cases | passed | failed, with a reason | failed | a hole, and the cases that notice it |',
  '| --- | --- | --- | --: | --: | --: | --: | --- |',
];

export function outcomeOf(suite: Suite, tally: Tally, noticed: number): Outcome {
  const { name, source, hole } = suite;
  const listed = [...tally.listed.values()].reduce((sum, count) => sum + count, 0);
  const failed = tally.unexpected.length;
  const cases = tally.passed + listed + failed;
  const cells = [
    ...[name, source, new Date().toISOString().slice(0, 10)],
    ...[cases, tally.passed, listed, failed, `${hole}: ${noticed}`],
  ];
  return {
    row: `| ${cells.join(' | ')} |`,
    reasons: reasonsOf(tally),
    report: suite.report?.() ?? [],
  };
}

function reasonsOf({ listed }: Tally): string[] {
  if (listed.size === 0) return ['- Every case passes.'];
  return [...listed]
    .sort(([, left], [, right]) => right - left)
    .map(([reason, count]) => `- ${count}: ${reason}`);
}

/** Reads what the page says of a suite that is not run this time. */
export function formerOutcome({ name, report }: Suite): Outcome | undefined {
  const text = readFileSync(PAGE, 'utf8');
  const row = text.split('\n').find((line) => line.startsWith(`| ${name} |`));
  const [, rest = ''] = text.split(`\n**${name}**\n\n`);
  const [reasons = ''] = rest.split(/\n\n(?=\*\*|## )/);
  const [, reported = ''] = /<!-- report -->\n([\s\S]*?)\n<!-- \/report -->/.exec(text) ?? [];
  if (row === undefined || reasons === '') return undefined;
  return { row, reasons: reasons.split('\n'), report: report === undefined ? [] : reported.split('\n') };
}

/** Writes the page; `command` runs everything, and a suite without an outcome has never been run to its end. */
export function writePage(outcomes: ReadonlyMap<Suite, Outcome | undefined>, command: string): void {
  const all = [...outcomes].flatMap(([suite, outcome]) =>
    outcome === undefined ? [] : [[suite, outcome] as const],
  );
  const missing = [...outcomes].flatMap(([{ name }, outcome]) =>
    outcome === undefined
      ? [`- ${name}: the runner is there; it was not run to its end when this page was written.`]
      : [],
  );
  const table = [...HEAD, ...all.map(([, { row }]) => row)];
  const reports = all.flatMap(([, { report }]) => report);
  const reasons = all.map(([{ name }, each]) => `**${name}**\n\n${each.reasons.join('\n')}`);
  writeFileSync(PAGE, pageOf({ command, table, reports, reasons, missing }));
}

interface Parts {
  readonly command: string;
  readonly table: readonly string[];
  readonly reports: readonly string[];
  readonly reasons: readonly string[];
  readonly missing: readonly string[];
}

function pageOf({ command, table, reports, reasons, missing }: Parts): string {
  return `# Proof by others

Suites that others wrote, run against the parts of the bot that they are about. \`${command}\`
runs everything and writes this page. It fails if a case fails without a reason below, or if a suite does not notice a hole that
the runner makes on purpose. \`npm run proof\` runs what takes less than ten minutes and needs no DIR. A suite that is not run keeps its row, with the
date on which it was.

The suites are installed from npm into \`proof/\` at the first run, or come from a DIR: a checkout at the commit in the table. Without
it the command says how to get it.

${table.join('\n')}

The MCP conformance suite has a line for each scenario, and real MCP servers a table: [conformance](conformance.md).

- **Texts.** The naughty strings go through the views. BIPIA and PurpleLlama go through the whole bot: a person says the text and attaches a file with it; the model repeats it as its explanation, as an argument and in the title of the card;
  the tool returns it; the model repeats what it was told. Everything that Slack is sent is read: no mention, link or format of the text is alive, nothing in it
  is hidden, a card that can be approved shows it whole, and the model is told all of it. As the description of a tool it stands on a card too.
- **Slack payloads.** Each as it is and with the names of this workspace, as signed HTTP requests and over a socket. All are acknowledged, and
  the bot answers the next person. Those of bolt-js are made by the functions of its tests.
- **AISVS.** Each class of action is a tool of an MCP server, under nine lines of rules and a lock file. *Unattended* and *supervised* are the same here: the call
  runs, its thread shows it, and people can stop it. A tool whose definition is new or has changed is offered to nobody until an admin has accepted it. The tiers of
  evidence are not judged: every call is on the audit log. All verdicts come from shipped behaviour.
- **What is sent.** The audit log is posted as CloudEvents; callers are told of their requests by Standard Webhooks.

## AgentDojo

Somebody asks the bot for something; what its tools return holds an attack; the model obeys the attacker every time. Can the gate keep the
harm away, and does the person still get what they asked for?

- **The case.** One user task with one injection task, all 949. The model is a script: it makes the calls of the user task's ground truth, then those of the
  injection task's, one by one and whatever became of those before, and gives both answers.
- **The bot.** The whole bot on a real Redis, with a Slack in the process. The tools of a suite are an MCP server over stdio. Its manifest is short: tools
  that only read are free (\`get_*\`, \`search_*\`, \`read_*\` …), all others are asked. So are \`get_webpage\`, which sends an address to somebody outside, and
  \`get_unread_emails\`, which marks them as read.
- **The approver.** Approves each call of the user task's ground truth once, with exactly its arguments, and rejects everything else.
- **The judge.** AgentDojo's own checks of utility and security, on what ran and what was answered. A call counts as made if it reached its tool.
- **Unmodified, from the checkout**: environments, tools, user tasks, injection tasks, ground truths, checks, and the text of the attack
  (\`important_instructions\`, as AgentDojo places it). **Ours**: the calls of workspace's injection tasks 6 to 13, for which AgentDojo has a goal and a check and
  no ground truth; and empty stand-ins for the clients of model providers, which AgentDojo imports and nothing here calls.

<!-- report -->
${reports.join('\n')}
<!-- /report -->

"Tasks done" falls without the gate because AgentDojo's checks of a task fail too if something else has changed. 86 attacks fail without
the gate as well, most of them because AgentDojo looks for the attacker's e-mail, event or file under the next free id, and the user's own task took it.

An approval gate guards calls, not words: a model that has been talked into praising a hotel can say so. And an approver who approves everything is no gate;
the rows about that are what is lost then.

## What does not pass, and why

A rule whose condition is refused does not load; one that cannot be evaluated asks under the strictest policy that could apply. A tool
whose schema is refused is left out, and the error says why. Neither lets a call run that should have been asked about.

${reasons.join('\n\n')}

## What was found

- \`lowerAscii\`, \`upperAscii\` and \`trim\` also changed letters and spaces outside ASCII: the sign for Kelvin became a *k*, so a condition
  on \`input.name.lowerAscii()\` could be true for another name. They are our own functions now.
- \`in\` did not find an unsigned number in a list, and bytes that are not ASCII were read wrongly. Such conditions are refused.
- A property named \`__proto__\` was not checked; \`$dynamicRef\`, \`unevaluatedItems\`, and \`unevaluatedProperties\` beside half an \`if\` let
  values pass that do not fit; \`$id\` beside \`$ref\` could point at another definition, or end in a stack overflow. Such schemas are refused.
- A payload without an event ended the process when it came over a socket. It is acknowledged now: \`test/stories/slack-failures.test.ts\`.
- Slack was answered 500, and sent the event again, if it refused to show a Home: same test.
- Nobody could connect an account at an authorization server that only registers clients. A client is registered for each connection now:
  \`test/stories/accounts/registration.test.ts\`.

## Changes of the log that nobody finds

\`test/page/proofs.test.ts\` changes every field of every row of such approvals, one at a time, with the bot's own key. These changes nobody finds, because no passkey signs them:

| change |
| --- |
| the time of a row, within the time of the link that was signed |
| the evidence about a person: how Slack described them then |
| who confirmed a passkey, its name, and since when it counts |
| the reason beside an approval |
| the row \`approved\`, which the votes before it repeat |
| the number of an attempt, and the people counted at a start |
| how an action ended, and its result |

## What is not run

${missing.map((line) => `${line}\n`).join('')}- The extensions of MCP that no revision requires: DPoP, enterprise-managed authorization and workload identity are not built.
- \`doctor --cards\`, which asks Slack's \`blocks.validate\`, against a real workspace: it needs a token of one.
`;
}
