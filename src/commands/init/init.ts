import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join, relative, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { doctor } from '../doctor.ts';
import {
  type Command,
  type CommandContext,
  EXIT,
  HTTP_HELP,
  HTTP_OPTION,
  readOptions,
  slackConnection,
} from '../shared/command.ts';
import { collectAnswers, Questions } from './answers.ts';
import { environmentOf, PUBLIC_KEY, writeFiles } from './write-files.ts';

/** Makes the folder of a new bot: asks or takes flags, checks tokens and people in Slack, writes the files, and runs the doctor. */
export const init: Command = {
  help: `Usage: countersign init [folder] [options]

Makes a new bot in the folder (default: this one): manifest.yml, .env, a sample tool with its test, a compose
file, a key for the audit log. It asks for what it needs, checks tokens and people in Slack at once, never replaces a
file, and runs "countersign doctor" at the end. Secrets come from the environment, from .env, or are asked for:
SLACK_BOT_TOKEN, SLACK_APP_TOKEN or SLACK_SIGNING_SECRET, OPENAI_API_KEY.

${HTTP_HELP}
  --approvers LIST  who approves: names, e-mail addresses, ids or @groups, separated by commas
  --admins LIST     who is told when something is wrong: people in the same form
  --model NAME      the model (default: OPENAI_MODEL)
  --base-url URL    the address of the model's API (default: OPENAI_BASE_URL)
  --redis URL       the address of Redis (default: REDIS_URL)

Exit code: 0 the doctor found no error, 1 it did or nothing was written, 2 wrong usage.
`,
  async run(args, context) {
    const { values, positionals } = readOptions(
      args,
      {
        ...HTTP_OPTION,
        approvers: { type: 'string' },
        admins: { type: 'string' },
        model: { type: 'string' },
        'base-url': { type: 'string' },
        redis: { type: 'string' },
      },
      { positionals: 1 },
    );
    const folder = resolve(positionals[0] ?? '.');
    const environment = {
      ...savedSettings(folder),
      ...context.environment,
      ...(values.model !== undefined && { OPENAI_MODEL: values.model }),
      ...(values['base-url'] !== undefined && { OPENAI_BASE_URL: values['base-url'] }),
      ...(values.redis !== undefined && { REDIS_URL: values.redis }),
    };
    const questions = new Questions(context, environment);
    const connection = values.http === undefined ? undefined : slackConnection(values.http);
    const { approvers, admins } = values;
    try {
      const answers = await collectAnswers({ connection, approvers, admins, environment }, questions);
      const { written, kept } = await writeFiles(folder, answers);
      for (const name of written) await context.write(`wrote   ${name}\n`);
      for (const name of kept) await context.write(`exists  ${name}, left as it is\n`);
      await context.write(`\n${await describeKey(folder)}\n`);
      return await finish(folder, { ...environmentOf(answers), ...savedSettings(folder) }, context);
    } finally {
      questions.close();
    }
  },
};

/** Prints the public key of the audit log, which belongs somewhere that the bot cannot change. */
async function describeKey(folder: string): Promise<string> {
  const pem = await readFile(join(folder, PUBLIC_KEY), 'utf8');
  return `Keep this public key away from the bot too: "countersign audit verify --key" checks the audit log with it.\n${pem}`;
}

/** Reads the settings that a folder has already. */
function savedSettings(folder: string): NodeJS.ProcessEnv {
  const file = join(folder, '.env');
  return existsSync(file) ? parseEnv(readFileSync(file, 'utf8')) : {};
}

/** Runs the doctor in the new folder, and names the one command that comes next. */
async function finish(folder: string, settings: NodeJS.ProcessEnv, context: CommandContext): Promise<number> {
  const { MANIFEST: manifest = 'manifest.yml', AUDIT_KEY_FILE: key = '' } = settings;
  const environment = {
    ...settings,
    ...context.environment,
    MANIFEST: resolve(folder, manifest),
    ...(key !== '' && { AUDIT_KEY_FILE: resolve(folder, key) }),
  };
  // The tools of a new folder import what npm has not installed yet.
  const isReady = isInstalled(folder);
  const code = await doctor.run(isReady ? [] : ['--without-tools'], { ...context, environment });
  const path = relative('.', folder);
  const steps = [
    ...(path === '' ? [] : [`cd ${path}`]),
    ...(isReady ? [] : ['npm install']),
    code === EXIT.ok ? 'npx countersign start' : 'npx countersign doctor',
  ];
  const first = code === EXIT.ok ? 'Next' : 'Fix what is marked FAILED, then run';
  await context.write(`\n${first}: ${steps.join(' && ')}\n`);
  return code;
}

function isInstalled(folder: string): boolean {
  try {
    createRequire(join(folder, 'package.json')).resolve('countersign');
    return true;
  } catch {
    return false;
  }
}
