import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { pino } from 'pino';
import { readSettings } from './settings.ts';
import { startBot } from './start-bot.ts';
import { parseManifest } from './tools/manifest/parse-manifest.ts';
import { formatProblem } from './tools/manifest/problem.ts';
import { Secrets } from './tools/secrets.ts';

/** Ends with what is wrong, a line each; nothing was started. */
function refuse(problems: readonly string[], hint: string): never {
  process.stderr.write(
    `countersign cannot start:\n${problems.map((problem) => `  ${problem}\n`).join('')}${hint}`,
  );
  process.exit(1);
}

const read = readSettings(process.env);
if (!read.ok) refuse(read.problems, 'See .env.example for what each setting means.\n');
const { settings } = read;

const file = settings.manifest;
const text = await readFile(file, 'utf8').catch(() =>
  refuse([`there is no ${file}`], 'Set MANIFEST to its path.\n'),
);
const parsed = parseManifest(text, { file, environment: process.env });
if (!parsed.ok) refuse(parsed.problems.map(formatProblem), '');

const secrets = new Secrets();
for (const secret of [
  ...parsed.secrets,
  settings.slack.botToken,
  settings.slack.appToken,
  settings.model.apiKey,
]) {
  secrets.add(secret);
}
const logger = pino({ level: settings.logLevel });
try {
  const folder = dirname(resolve(file));
  const bot = await startBot({ settings, manifest: parsed.manifest, folder, secrets, logger });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void bot.stop());
  logger.info('connected to Slack');
} catch (error) {
  refuse([error instanceof Error ? error.message : String(error)], '');
}
