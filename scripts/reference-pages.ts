import { z } from 'zod';
import { EXPECTED } from '../src/commands/live/expectations.ts';
import { runCommandLine } from '../src/commands/run-command-line.ts';
import { METRICS } from '../src/observe/metrics-table.ts';
import { Environment } from '../src/settings.ts';
import { RedisVariables } from '../src/store/redis/redis-settings.ts';
import { alertsPage } from './alerts.ts';
import { manifestFields } from './manifest-fields.ts';

/** Returns the pages of docs/ that are made from the source, by their names. */
export async function referencePages(): Promise<ReadonlyMap<string, string>> {
  return new Map([
    ['manifest-fields.md', manifestFields()],
    ['settings.md', settingsPage()],
    ['metrics.md', metricsPage()],
    ['alerts.md', alertsPage()],
    ['commands.md', await commandsPage()],
  ]);
}

const Variables = z.object({
  properties: z.record(
    z.string(),
    z.object({
      description: z.string(),
      default: z.union([z.string(), z.number()]).optional(),
      enum: z.array(z.string()).optional(),
    }),
  ),
  required: z.array(z.string()),
});

/** Variables that other parts read: a command, Node, the proxies, OpenTelemetry. */
const OTHERS: readonly (readonly [name: string, meaning: string])[] = [
  ['SLACK_CONFIG_TOKEN', 'Only for `countersign manifest push`: a configuration token of your workspace.'],
  ['HTTPS_PROXY, HTTP_PROXY', 'Proxies for the model, Slack, HTTP tools and remote MCP servers.'],
  ['NO_PROXY', 'Hosts that are reached without them.'],
  [
    'NODE_EXTRA_CA_CERTS',
    'A file with further certificates. Node reads it before `.env`, so set it in the environment.',
  ],
  [
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    "Where traces go; with OpenTelemetry's other variables, see [traces](operate.md#traces).",
  ],
];

function variableRows(schema: z.ZodType): string[] {
  const { properties, required } = Variables.parse(z.toJSONSchema(schema, { io: 'input' }));
  return Object.entries(properties).map(([name, { description, default: value, enum: values }]) => {
    const shown = required.includes(name) ? `**\`${name}\`**` : `\`${name}\``;
    const choices = values === undefined ? '' : ` One of ${values.map((each) => `\`${each}\``).join(', ')}.`;
    return `| ${shown} | ${value === undefined ? '' : `\`${value}\``} | ${description}${choices} |`;
  });
}

/** Names every environment variable, and marks those that are required. */
export function settingNames(): string[] {
  return [Environment, RedisVariables].flatMap((schema) => {
    const { properties, required } = Variables.parse(z.toJSONSchema(schema, { io: 'input' }));
    return Object.keys(properties).map((name) => (required.includes(name) ? `${name} required` : name));
  });
}

/** Lists every environment variable, from the schemas that read them. */
function settingsPage(): string {
  const head = '| variable | default | meaning |\n| --- | --- | --- |\n';
  const others = OTHERS.map(([names, meaning]) => {
    const shown = names.split(', ').map((name) => `\`${name}\``);
    return `| ${shown.join(', ')} | | ${meaning} |`;
  });
  return `# Every setting

Made from \`src/settings.ts\` by \`npm run schema\`. Settings come from the environment and from \`.env\` in the folder; the environment takes precedence. Variables in
bold are required, and so is \`SLACK_APP_TOKEN\` or \`SLACK_SIGNING_SECRET\`. A value can be in a file: \`SLACK_BOT_TOKEN_FILE=/run/secrets/bot-token\` sets
\`SLACK_BOT_TOKEN\`. The same works for every variable here, and for every \`\${NAME}\` of the manifest.

## The bot

${head}${variableRows(Environment).join('\n')}

## Redis

${head}${variableRows(RedisVariables).join('\n')}

## Read by others

${head}${others.join('\n')}
`;
}

/** Lists every metric, from the table that makes them. */
function metricsPage(): string {
  const rows = Object.entries(METRICS).map(([name, { kind, labels, help }]) => {
    const shown = labels.map((label) => `\`${label}\``).join(', ');
    return `| \`${name}\` | ${kind} | ${shown} | ${help} |`;
  });
  return `# Every metric

Made from \`src/observe/metrics-table.ts\` by \`npm run schema\`. [Operate](operate.md#watch-it) says how to read them. \`process_*\` and \`nodejs_*\` are those of prom-client: CPU,
memory and event-loop lag of the process.

| metric | kind | labels | meaning |
| --- | --- | --- | --- |
${rows.join('\n')}
`;
}

/** Lists the commands as the help does. */
export async function listedCommands(): Promise<{ readonly name: string; readonly summary: string }[]> {
  return [...(await helpOf()).matchAll(/^ {2}([a-z][a-z ]*?) {2,}(.*)$/gm)].map(
    ([, name = '', summary = '']) => ({ name, summary }),
  );
}

/** Lists every command with its help, as the program prints them. */
async function commandsPage(): Promise<string> {
  const listed = await listedCommands();
  const sections = listed.map(
    async ({ name }) =>
      `## ${name}\n\n\`\`\`text\n${(await helpOf(...name.split(' '))).trimEnd()}\n\`\`\`\n${name === 'doctor' ? untried() : ''}`,
  );
  return `# Every command

Made from \`countersign help\` by \`npm run schema\`. Run them as \`npx countersign …\` in the folder of your bot; [settings](settings.md) come from the environment and from \`.env\` there.

| command | does |
| --- | --- |
${listed.map(({ name, summary }) => `| \`countersign ${name}\` | ${summary} |`).join('\n')}

${(await Promise.all(sections)).join('\n')}`;
}

/** Lists what a real Slack may do otherwise than the local one, from the table of the check that finds out. */
function untried(): string {
  const rows = EXPECTED.map(({ name, means, fix }) => `| ${name} | ${means} | ${fix} |`);
  return `
### What we could not try

Countersign is tested with a strict local Slack, not in a real workspace. \`countersign doctor --live '#channel'\` finds out there what differs. It warns where people only see less.

| what | if it differs | what to do |
| --- | --- | --- |
| cards | people would not see a card, a modal or Home | report it with the line of the check |
${rows.join('\n')}
`;
}

/** Returns the help of a command, or of all. */
export async function helpOf(...command: readonly string[]): Promise<string> {
  let out = '';
  const write = async (text: string): Promise<void> => {
    out += text;
  };
  await runCommandLine(['help', ...command], { environment: {}, write, writeError: write });
  return out;
}
