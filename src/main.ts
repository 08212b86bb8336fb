import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { pino } from 'pino';
import { describeError } from './agent/errors.ts';
import { proposeChange } from './bot/turns/policy-change.ts';
import { noticeTexts } from './bot/views/texts/notices.ts';
import { escapeMarkup } from './bot/views/texts/show-text.ts';
import { findRejections } from './commands/manifest/manifest-check.ts';
import { inspectAtStart } from './inspect-model.ts';
import { loadEnvironment } from './load-environment.ts';
import { mayCaptureContent, startTracing } from './observe/start-tracing.ts';
import { traceIdOf } from './observe/tracing.ts';
import { readSettings, SETTINGS_HINT, secretsOf } from './settings.ts';
import { type RunningBot, startBot } from './start-bot.ts';
import { manifestIn } from './store/documents/manifest.ts';
import { proxiedFetch } from './tools/http/proxy.ts';
import { chooseManifest, versionOf } from './tools/manifest/govern.ts';
import { parseManifest } from './tools/manifest/parse.ts';
import { formatProblem } from './tools/manifest/problem.ts';
import { type ReloadNotice, watchManifest } from './tools/manifest/reload.ts';
import { Secrets } from './tools/secrets.ts';
import { readLockText } from './tools/toolbox/tool-lock.ts';

const ALLOW_MISSING_TOOLS = '--allow-missing-tools';

/** Ends the process before anything has started, with one line for each problem. */
function refuse(problems: readonly string[], hint = ''): never {
  process.stderr.write(
    `countersign cannot start:\n${problems.map((problem) => `  ${problem}\n`).join('')}${hint}`,
  );
  process.exit(1);
}

const environment = loadEnvironment();
const read = readSettings(environment);
if (!read.ok) refuse(read.problems, `${SETTINGS_HINT}\n`);
const { settings } = read;

const file = settings.manifest;
const text = await readFile(file, 'utf8').catch(() =>
  refuse([`there is no ${file}`], 'Set MANIFEST in .env to its path, or make one with "countersign init".\n'),
);
const parsed = parseManifest(text, { file, environment });
if (!parsed.ok) refuse(parsed.problems.map(formatProblem));
if (parsed.placeholders.length > 0) refuse(parsed.placeholders.map(formatProblem));
const { missingTools, others } = await findRejections(parsed, file);
if (others.length > 0) refuse(others.map(formatProblem));
if (missingTools.length > 0 && !process.argv.includes(ALLOW_MISSING_TOOLS))
  refuse(missingTools.map(formatProblem), `${ALLOW_MISSING_TOOLS} starts the bot with the other tools.\n`);

const secrets = new Secrets();
for (const secret of [...parsed.secrets, ...secretsOf(settings, environment)]) secrets.add(secret);
// Every line of the log is redacted, whichever library wrote it.
const logger = pino({
  level: settings.logLevel,
  hooks: { streamWrite: (line) => secrets.redact(line) },
  mixin: () => ({ traceId: traceIdOf() }),
});
try {
  const folder = dirname(resolve(file));
  const tracing = await startTracing(process.env);
  const captureContent = mayCaptureContent(process.env);
  const lock = await readLockText(folder);
  const { manifest } = parsed;
  let active = versionOf(parsed, lock);
  let reload = (): void => {};
  const bot = await startBot({
    settings,
    manifest,
    folder,
    secrets,
    logger,
    captureContent,
    policyChanges: {
      async choose(record) {
        ({ version: active } = await chooseManifest(record, active, environment));
        for (const secret of active.secrets) secrets.add(secret);
        return { manifest: active.manifest, lock: { text: active.lock } };
      },
      onApproved: () => reload(),
    },
  });
  const watch = await watchManifest({
    file,
    active,
    govern: {
      record: manifestIn(bot.context.store),
      onHeld: (change) => proposeChange(bot.context, change),
    },
    environment,
    toolbox: bot.toolbox,
    secrets,
    store: bot.context.store,
    logger,
    onNotice: (notice) => reportReload(bot, notice),
  });
  reload = () => void watch.reload();
  const stop = async (signal: string): Promise<void> => {
    logger.info({ signal }, 'signal received');
    await watch.close();
    await bot.stop();
    await tracing?.stop();
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void stop(signal));
  void reportModel(bot);
  if (missingTools.length > 0) void reportMissingTools(bot);
  logger.info({ port: bot.port }, 'connected to Slack');
} catch (error) {
  refuse([describeError(error)]);
}

/** Tells the admins which tools the bot runs without. */
async function reportMissingTools(bot: RunningBot): Promise<void> {
  const problems = missingTools.map(formatProblem);
  logger.warn({ problems }, 'started without some tools');
  await reportReload(bot, { outcome: 'active-with-problems', file, problems }).catch((err) =>
    logger.error({ err }, 'admins could not be told about missing tools'),
  );
}

/** Reports what is wrong with the model before users find out. */
async function reportModel(bot: RunningBot): Promise<void> {
  const findings = await inspectAtStart(
    { ...settings.model, fetch: proxiedFetch(settings.proxy) },
    bot.toolbox.manifest.agent,
  );
  for (const { status, message } of findings)
    logger[status === 'failed' ? 'error' : 'warn']({ part: 'model' }, message);
  if (findings.length === 0) return;
  const list = findings.map(({ message }) => `• ${message}`).join('\n');
  await notifyAdmins(bot, `The model needs attention:\n${list}`).catch((err) =>
    logger.error({ err }, 'admins could not be told about the model'),
  );
}

async function notifyAdmins({ context, toolbox }: RunningBot, text: string): Promise<void> {
  const safe = escapeMarkup(secrets.redact(text));
  for (const channel of toolbox.manifest.agent.admins)
    await context.client.chat.postMessage({ channel, text: safe });
}

/** Tells every admin of the manifest about a changed manifest: its problems, or that it is valid again. */
async function reportReload(bot: RunningBot, { outcome, file: name, problems }: ReloadNotice): Promise<void> {
  const summary = {
    rejected: noticeTexts.manifestRejected,
    held: noticeTexts.manifestHeld,
    'active-with-problems': noticeTexts.manifestProblems,
    'valid-again': noticeTexts.manifestFine,
  }[outcome](name);
  const list = problems.length === 0 ? '' : `\n\`\`\`${problems.join('\n')}\`\`\``;
  await notifyAdmins(bot, `${summary}${list}`);
}
