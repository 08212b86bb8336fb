import { dirname, resolve } from 'node:path';
import { describeError } from './agent/errors.ts';
import { proposeChange } from './bot/policy-change.ts';
import { noticeTexts } from './bot/views/texts/notices.ts';
import { escapeMarkup } from './bot/views/texts/show-text.ts';
import { type BotOptions, StartError } from './bot-options.ts';
import { inspectAtStart } from './inspect-model.ts';
import { mayCaptureContent, startTracing } from './observe/start-tracing.ts';
import { unusedModelKeys } from './open-model.ts';
import { prepareStart, type Start } from './prepare-start.ts';
import { type RunningBot, startBot } from './start-bot.ts';
import { manifestIn } from './store/documents/manifest.ts';
import { proxiedFetch } from './tools/http/proxy.ts';
import { chooseManifest, versionOf } from './tools/manifest/govern.ts';
import { readLockText } from './tools/manifest/tool-lock.ts';
import type { Secrets } from './tools/secrets.ts';
import { type ReloadNotice, watchManifest } from './tools/watch-manifest.ts';
import { Listeners } from './workspace/listeners.ts';

/** Starts a bot with everything around it: settings, log, traces and the watch of its manifest. What is wrong is one `StartError`. */
export async function runBot(options: BotOptions) {
  try {
    const start = await prepareStart(options);
    const tracing = await startTracing(process.env);
    try {
      const bot = await connect(start);
      return {
        port: bot.port,
        async stop() {
          await bot.stop();
          await tracing?.stop();
        },
      };
    } catch (error) {
      await tracing?.stop();
      throw error;
    }
  } catch (error) {
    throw error instanceof StartError ? error : new StartError([describeError(error)], { cause: error });
  }
}

/** Connects the bot and follows its manifest; a failure closes what was open. */
async function connect(start: Start): Promise<{ readonly port: number; stop(): Promise<void> }> {
  const { readEnvironment, settings, file, parsed, code, model, secrets, logger } = start;
  const folder = dirname(resolve(file));
  const lock = await readLockText(folder);
  let active = versionOf(parsed, lock);
  const approved = new Listeners();
  const bot = await startBot({
    settings,
    manifest: parsed.manifest,
    folder,
    code,
    model,
    secrets,
    logger,
    captureContent: mayCaptureContent(process.env),
    policyChanges: {
      async choose(record) {
        ({ version: active } = await chooseManifest(record, active, readEnvironment()));
        for (const secret of active.secrets) secrets.add(secret);
        return { manifest: active.manifest, lock: { text: active.lock } };
      },
      onApproved: approved.emit,
    },
  });
  try {
    const watch = await watchManifest({
      file,
      active,
      govern: {
        record: manifestIn(bot.context.store),
        onHeld: (change) => proposeChange(bot.context, change),
      },
      readEnvironment,
      toolbox: bot.toolbox,
      secrets,
      store: bot.context.store,
      logger,
      onNotice: (notice) => reportReload(bot, secrets, notice),
    });
    approved.add(() => void watch.reload());
    void reportModel(bot, start);
    if (start.missingTools.length > 0) void reportMissingTools(bot, start);
    logger.info({ port: bot.port }, 'connected to Slack');
    return {
      port: bot.port,
      async stop() {
        await watch.close();
        await bot.stop();
      },
    };
  } catch (error) {
    await bot.stop();
    throw error;
  }
}

/** Tells the admins which tools the bot runs without. */
async function reportMissingTools(
  bot: RunningBot,
  { file, missingTools: problems, secrets, logger }: Start,
): Promise<void> {
  logger.warn({ problems }, 'started without some tools');
  await reportReload(bot, secrets, { outcome: 'active-with-problems', file, problems }).catch((err) =>
    logger.error({ err }, 'admins could not be told about missing tools'),
  );
}

/** Reports what is wrong with the model before users find out; of a model of the program, which keys of the manifest it leaves unused. */
async function reportModel(bot: RunningBot, { settings, model, secrets, logger }: Start): Promise<void> {
  const { agent } = bot.toolbox.manifest;
  if (model !== undefined) {
    const keys = unusedModelKeys(agent);
    if (keys.length > 0)
      logger.warn(
        { part: 'model', keys },
        'the program has its own model, so these keys of the manifest do not apply',
      );
    return;
  }
  const findings = await inspectAtStart({ ...settings.model, fetch: proxiedFetch(settings.proxy) }, agent);
  for (const { status, message } of findings)
    logger[status === 'failed' ? 'error' : 'warn']({ part: 'model' }, message);
  if (findings.length === 0) return;
  const list = findings.map(({ message }) => `• ${message}`).join('\n');
  await notifyAdmins(bot, secrets, `The model needs attention:\n${list}`).catch((err) =>
    logger.error({ err }, 'admins could not be told about the model'),
  );
}

async function notifyAdmins({ context, toolbox }: RunningBot, secrets: Secrets, text: string): Promise<void> {
  const safe = escapeMarkup(secrets.redact(text));
  for (const channel of toolbox.manifest.agent.admins)
    await context.client.chat.postMessage({ channel, text: safe });
}

/** Tells every admin of the manifest about a changed manifest: its problems, or that it is valid again. */
async function reportReload(
  bot: RunningBot,
  secrets: Secrets,
  { outcome, file: name, problems }: ReloadNotice,
): Promise<void> {
  const summary = {
    rejected: noticeTexts.manifestRejected,
    held: noticeTexts.manifestHeld,
    'active-with-problems': noticeTexts.manifestProblems,
    'valid-again': noticeTexts.manifestFine,
  }[outcome](name);
  const list = problems.length === 0 ? '' : `\n\`\`\`${problems.join('\n')}\`\`\``;
  await notifyAdmins(bot, secrets, `${summary}${list}`);
}
