import { readFile } from 'node:fs/promises';
import { type Logger, type LoggerOptions, pino } from 'pino';
import { indexTools, type Tool } from './agent/tool.ts';
import { type BotOptions, StartError } from './bot-options.ts';
import { findRejections } from './commands/manifest/manifest-check.ts';
import { loadEnvironment, withSecretFiles } from './load-environment.ts';
import { traceIdOf } from './observe/tracing.ts';
import { DEFAULT_POLICY_NAME } from './policy/policy.ts';
import { readSettings, SETTINGS_HINT, type Settings, secretsOf } from './settings.ts';
import { terminalLog } from './terminal-log.ts';
import { parseManifest } from './tools/manifest/parse.ts';
import { formatProblem } from './tools/manifest/problem.ts';
import { BUILT_IN_NAMES } from './tools/manifest/schema/agent.ts';
import { Secrets } from './tools/secrets.ts';
import type { CodeTools } from './tools/toolbox/tool-source.ts';

/** Everything that a start needs, read and checked before anything is connected. */
export interface Start {
  /** Reads the environment, with what is new in `.env` by then. */
  readonly readEnvironment: () => NodeJS.ProcessEnv;
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

/** Reads and checks the options, the settings and the manifest; all that is wrong with one of them is one `StartError`. */
export async function prepareStart(options: BotOptions): Promise<Start> {
  const { model, version, allowMissingTools = false } = options;
  const { environment: given } = options;
  const readEnvironment = () => (given === undefined ? loadEnvironment() : withSecretFiles(given));
  const environment = readEnvironment();
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
  const logOptions: LoggerOptions = {
    level: settings.logLevel,
    hooks: { streamWrite: (line) => secrets.redact(line) },
    mixin: () => ({ traceId: traceIdOf() }),
  };
  const logger = process.stdout.isTTY ? pino(logOptions, terminalLog) : pino(logOptions);
  return {
    readEnvironment,
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
