import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { createKeyPair, publicPemOf, readSigningKey } from '../../audit/signing-key.ts';
import { PACKAGE_FILES } from '../shared/command.ts';
import type { Answers } from './answers.ts';
import type { FoundPrincipal } from './find-principals.ts';

const OwnPackage = z.object({ version: z.string(), dependencies: z.record(z.string(), z.string()) });

export interface WrittenFiles {
  readonly written: readonly string[];
  /** Files that were there already; they are left as they are. */
  readonly kept: readonly string[];
}

/** Writes the files of a new bot into a folder. An existing file is never replaced. */
export async function writeFiles(folder: string, answers: Answers): Promise<WrittenFiles> {
  const files = await filesFor(folder, answers);
  const kept = files.map(({ name }) => name).filter((name) => existsSync(join(folder, name)));
  const missing = files.filter(({ name }) => !kept.includes(name));
  for (const { name, text, mode } of missing) {
    const path = join(folder, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text, { flag: 'wx', ...(mode !== undefined && { mode }) });
  }
  return { written: missing.map(({ name }) => name), kept };
}

interface NewFile {
  readonly name: string;
  readonly text: string;
  readonly mode?: number;
}

async function filesFor(folder: string, answers: Answers): Promise<NewFile[]> {
  const template = (name: string): Promise<string> =>
    readFile(new URL(`templates/${name}`, PACKAGE_FILES), 'utf8');
  const { privatePem, publicPem } = await keyPairFor(folder);
  return [
    { name: 'manifest.yml', text: await manifestText(answers) },
    { name: 'manifest.test.yml', text: await template('manifest.test.yml') },
    { name: '.env', text: environmentText(answers), mode: 0o600 },
    { name: AUDIT_KEY, text: privatePem, mode: 0o600 },
    { name: PUBLIC_KEY, text: publicPem },
    { name: 'tools/open-ticket.mts', text: await template('tools/open-ticket.mts') },
    { name: 'tools/open-ticket.test.mts', text: await template('tools/open-ticket.test.mts') },
    { name: 'compose.yml', text: await template('compose.yml') },
    // npm leaves files with that name out of a package, so the template has another.
    { name: '.gitignore', text: await template('gitignore') },
    { name: 'package.json', text: await packageText(folder) },
  ];
}

const AUDIT_KEY = 'audit-key.pem';
/** Everybody who checks the audit log needs this one, and nobody can sign with it. */
export const PUBLIC_KEY = 'audit-key.pub.pem';

/** Makes the key of the audit log, or reads the one that is there, so that both files always belong together. */
async function keyPairFor(folder: string): Promise<ReturnType<typeof createKeyPair>> {
  const file = join(folder, AUDIT_KEY);
  if (!existsSync(file)) return createKeyPair();
  return { privatePem: '', publicPem: publicPemOf(await readSigningKey({ file })) };
}

const WITHOUT_AGENT = `# Slack's view for agents needs a paid plan, which this workspace does not have.
slack:
  features:
    agent_view:

`;

async function manifestText({ approvers, admins, isPaid }: Answers): Promise<string> {
  const rest = await readFile(new URL('templates/manifest.yml', PACKAGE_FILES), 'utf8');
  return `# yaml-language-server: $schema=./node_modules/countersign/manifest.schema.json
#
# The agent, who approves, and what the agent may do. After a change: npx countersign manifest check
# The Slack app is the shipped one: npx countersign manifest slack prints it. A section "slack" here changes parts of it.
# Secrets never belong here: write \${NAME}, and NAME is taken from .env or the environment.

${isPaid ? '' : WITHOUT_AGENT}${rest
  .replace('{{admins}}', () => listOf(admins, '    '))
  .replace('{{approvers}}', () => listOf(approvers, '      '))}`;
}

function listOf(found: readonly FoundPrincipal[], indent: string): string {
  // A name is a comment, so it must stay on its line.
  return found.map(({ id, name }) => `${indent}- ${id} # ${name.replace(/[^\P{C}]+/gu, ' ')}`).join('\n');
}

function environmentText(answers: Answers): string {
  const lines = Object.entries(environmentOf(answers)).map(([name, value]) => `${name}=${quoted(value)}\n`);
  return `# Read by every command in this folder; variables set in the environment take precedence. Keep this file out of version control.\n${lines.join('')}`;
}

/** Returns the settings that the answers stand for. */
export function environmentOf(answers: Answers): Readonly<Record<string, string>> {
  const { slack, model, redisUrl, slackApiUrl } = answers;
  return {
    SLACK_BOT_TOKEN: slack.botToken,
    ...(slack.mode === 'socket'
      ? { SLACK_APP_TOKEN: slack.appToken }
      : { SLACK_SIGNING_SECRET: slack.signingSecret, PUBLIC_URL: slack.url }),
    ...(slackApiUrl !== undefined && { SLACK_API_URL: slackApiUrl }),
    OPENAI_API_KEY: model.apiKey,
    ...(model.baseUrl !== undefined && { OPENAI_BASE_URL: model.baseUrl }),
    OPENAI_MODEL: model.name,
    REDIS_URL: redisUrl,
    AUDIT_KEY_FILE: AUDIT_KEY,
  };
}

function quoted(value: string): string {
  return /^[\w./:@%+,=-]*$/.test(value) ? value : `'${value}'`;
}

const Installed = z.object({
  packages: z.object({ 'node_modules/countersign': z.object({ resolved: z.string().optional() }) }),
});

/** Names the package that a new bot depends on: a clone by its folder, a tarball by its file, one of a registry by its version. */
export async function packageSource(
  folder: string,
  version: string,
  own = fileURLToPath(PACKAGE_FILES),
): Promise<string> {
  const toPath = (target: string) => `file:${relative(folder, target).split(sep).join('/')}`;
  if (!own.split(sep).includes('node_modules')) return toPath(own);
  const root = resolve(own, '../..');
  // npm writes there what each package was installed from.
  const text = await readFile(join(root, 'node_modules/.package-lock.json'), 'utf8').catch(() => '{}');
  const { data } = Installed.safeParse(JSON.parse(text));
  const { resolved = '' } = data?.packages['node_modules/countersign'] ?? {};
  return resolved.startsWith('file:') ? toPath(resolve(root, resolved.slice('file:'.length))) : `^${version}`;
}

async function packageText(folder: string): Promise<string> {
  const own = OwnPackage.parse(JSON.parse(await readFile(new URL('package.json', PACKAGE_FILES), 'utf8')));
  const { zod = '*', tsx = '*' } = own.dependencies;
  return `${JSON.stringify(
    {
      private: true,
      type: 'module',
      scripts: {
        start: 'countersign start',
        test: 'node --import tsx --test tools/open-ticket.test.mts && countersign manifest test',
      },
      dependencies: { countersign: await packageSource(folder, own.version), tsx, zod },
      // Nothing that is installed has to run a script for that.
      allowScripts: { esbuild: false, 'msgpackr-extract': false },
    },
    null,
    2,
  )}\n`;
}
