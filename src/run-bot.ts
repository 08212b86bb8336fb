import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { type Logger, pino } from 'pino';
import { describeError } from './agent/errors.ts';
import { indexTools, type Tool } from './agent/tool.ts';
import { proposeChange } from './bot/turns/policy-change.ts';
import { noticeTexts } from './bot/views/texts/notices.ts';
import { escapeMarkup } from './bot/views/texts/show-text.ts';
import { type BotOptions, StartError } from './bot-options.ts';
import { findRejections } from './commands/manifest/manifest-check.ts';
import { inspectAtStart } from './inspect-model.ts';
import { loadEnvironment, withSecretFiles } from './load-environment.ts';
import { mayCaptureContent, startTracing } from './observe/start-tracing.ts';
import { traceIdOf } from './observe/tracing.ts';
import { unusedModelKeys } from './open-model.ts';
import { DEFAULT_POLICY_NAME } from './policy/policy.ts';
import { readSettings, SETTINGS_HINT, type Settings, secretsOf } from './settings.ts';
import { type RunningBot, startBot } from './start-bot.ts';
import { manifestIn } from './store/documents/manifest.ts';
import { proxiedFetch } from './tools/http/proxy.ts';
import { chooseManifest, versionOf } from './tools/manifest/govern.ts';
import { parseManifest } from './tools/manifest/parse.ts';
import { formatProblem } from './tools/manifest/problem.ts';
import { type ReloadNotice, watchManifest } from './tools/manifest/reload.ts';
import { BUILT_IN_NAMES } from './tools/manifest/schema/agent.ts';
import { Secrets } from './tools/secrets.ts';
import { readLockText } from './tools/toolbox/tool-lock.ts';
import type { CodeTools } from './tools/toolbox/tool-source.ts';

/** Everything that a start needs, read and checked before anything is connected. */
interface Start {
  readonly environment: NodeJS.ProcessEnv;
  readonly settings: Settings;
  readonly file: string;
  readonly parsed: Extract<ReturnType<typeof parseManifest>, { ok: true }>;
  readonly code: CodeTools;
  readonly model: BotOptions['model'];
  /** The problems of tools that the bot starts without. */
  readonly missingTools: readonly string[];
  readonly secrets: Secrets;
  readonly logger: Logger;
}

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

async function prepareStart(options: BotOptions): Promise<Start> {
  const { model, version, allowMissingTools = false } = options;
  const environment =
    options.environment === undefined ? loadEnvironment() : withSecretFiles(options.environment);
  const tools = indexTools(options.tools ?? []);
  // A program need not be typed.
  if (model !== undefined && typeof model?.reply !== 'function')
    throw new StartError(['model: it has no function "reply"; give a Model, such as openAIModel makes']);
  const read = readSettings(environment, { hasModel: model !== undefined });
  if (!read.ok) throw new StartError(read.problems, { hint: SETTINGS_HINT });
  const { settings } = read;
  const file = options.manifest ?? settings.manifest;
  const text = await readFile(file, 'utf8').catch(() => {
    const hint = 'Set MANIFEST in .env to its path, or make one with "countersign init".';
    throw new StartError([`there is no ${file}`], { hint });
  });
  const parsed = parseManifest(text, { file, environment });
  if (!parsed.ok) throw new StartError(parsed.problems.map(formatProblem));
  if (parsed.placeholders.length > 0) throw new StartError(parsed.placeholders.map(formatProblem));
  const { missingTools, others } = await findRejections(parsed, file, tools);
  const problems = [...others.map(formatProblem), ...codeProblems(parsed.manifest, tools)];
  if (problems.length > 0) throw new StartError(problems);
  if (missingTools.length > 0 && !allowMissingTools)
    throw new StartError(missingTools.map(formatProblem), {
      hint: '--allow-missing-tools starts the bot with the other tools.',
    });
  const secrets = new Secrets();
  for (const secret of [...parsed.secrets, ...secretsOf(settings, environment)]) secrets.add(secret);
  // Every line of the log is redacted, whichever library wrote it.
  const logger = pino({
    level: settings.logLevel,
    hooks: { streamWrite: (line) => secrets.redact(line) },
    mixin: () => ({ traceId: traceIdOf() }),
  });
  return {
    environment,
    settings,
    file,
    parsed,
    code: { tools, version },
    model,
    missingTools: missingTools.map(formatProblem),
    secrets,
    logger,
  };
}

/** Finds the tools of the program that the manifest leaves without a name or a policy. */
function codeProblems(
  { tools, policies }: Start['parsed']['manifest'],
  code: ReadonlyMap<string, Tool>,
): string[] {
  const builtIns: readonly string[] = BUILT_IN_NAMES;
  const isDeclared = (name: string) => tools.some((tool) => tool.name === name);
  return [...code.values()].flatMap(({ name, kind }) => {
    if (builtIns.includes(name))
      return [`the tool "${name}" of the program has the name of a built-in; give it another`];
    if (kind === 'interrupt' || isDeclared(name) || policies.has(DEFAULT_POLICY_NAME)) return [];
    return [
      `the tool "${name}" of the program has no rule, so its calls need the policy "default", and there is none in policies; add it, or an entry with "code: true" and a rule`,
    ];
  });
}

/** Connects the bot and follows its manifest; a failure closes what was open. */
async function connect(start: Start): Promise<{ readonly port: number; stop(): Promise<void> }> {
  const { environment, settings, file, parsed, code, model, secrets, logger } = start;
  const folder = dirname(resolve(file));
  const lock = await readLockText(folder);
  let active = versionOf(parsed, lock);
  let reload = (): void => {};
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
        ({ version: active } = await chooseManifest(record, active, environment));
        for (const secret of active.secrets) secrets.add(secret);
        return { manifest: active.manifest, lock: { text: active.lock } };
      },
      onApproved: () => reload(),
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
      environment,
      toolbox: bot.toolbox,
      secrets,
      store: bot.context.store,
      logger,
      onNotice: (notice) => reportReload(bot, secrets, notice),
    });
    reload = () => void watch.reload();
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
