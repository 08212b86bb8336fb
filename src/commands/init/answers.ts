import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { NO_AGENT, withShippedSlack } from '../../tools/manifest/schema/slack.ts';
import { createAppLink, type SlackConnection } from '../../tools/manifest/slack-manifest.ts';
import { createSteps } from '../manifest/manifest-slack.ts';
import { callSlack } from '../shared/call-slack.ts';
import { type CommandContext, Failure, slackConnection, UsageError } from '../shared/command.ts';
import { type FoundPrincipal, PrincipalFinder } from './find-principals.ts';

/** The answers that the flags and the environment give already. */
interface Given {
  readonly connection: SlackConnection | undefined;
  readonly approvers: string | undefined;
  readonly admins: string | undefined;
  readonly environment: NodeJS.ProcessEnv;
}

const DEFAULT_MODEL = 'gpt-6-luna';
const DEFAULT_REDIS = 'redis://127.0.0.1:6379';

/** Collects the answers: what is given is checked and used, the rest is asked for, the tokens first. Tokens and people are looked up in Slack at once. */
export async function collectAnswers(given: Given, questions: Questions): Promise<Answers> {
  const { environment } = given;
  const connection = given.connection ?? connectionOf(environment);
  const hasToken = (environment.SLACK_BOT_TOKEN ?? '') !== '';
  const isSaidPaid = hasToken || (await questions.askYes(PAID, true));
  if (!hasToken) await questions.tell(describeSteps(connection, isSaidPaid));
  const botToken = await questions.askSecret('SLACK_BOT_TOKEN', 'Bot token (xoxb-…)', (token) =>
    checkToken('auth.test', token, 'xoxb-', environment),
  );
  const slack =
    connection.mode === 'socket'
      ? {
          mode: connection.mode,
          botToken,
          appToken: await questions.askSecret('SLACK_APP_TOKEN', 'App-level token (xapp-…)', (token) =>
            checkToken('apps.connections.open', token, 'xapp-', environment),
          ),
        }
      : {
          mode: connection.mode,
          botToken,
          signingSecret: await questions.askSecret('SLACK_SIGNING_SECRET', 'Signing secret', keep),
          url: connection.url,
        };
  const finder = new PrincipalFinder(botToken, environment);
  const isPaid = isSaidPaid && (await finder.hasPaidPlan());
  if (!isPaid) await questions.say(NO_PLAN);
  const find = (list: string) => finder.findAll(list);
  const people = (list: string) => findPeople(finder, list);
  return {
    slack,
    isPaid,
    slackApiUrl: environment.SLACK_API_URL || undefined,
    approvers: await questions.askFor('--approvers', given.approvers, APPROVERS, find),
    admins: await questions.askFor('--admins', given.admins, ADMINS, people),
    model: {
      apiKey: await questions.askSecret('OPENAI_API_KEY', 'API key of the model', keep),
      baseUrl:
        (await questions.ask('OPENAI_BASE_URL', 'Base URL (empty for OpenAI)', checkUrl, '')) || undefined,
      name: await questions.ask('OPENAI_MODEL', 'Model', keep, DEFAULT_MODEL),
    },
    redisUrl: await questions.ask('REDIS_URL', 'Redis', keep, DEFAULT_REDIS),
  };
}

const PAID = 'Is the workspace on a paid plan of Slack? (y/n)';
const NO_PLAN =
  'Without a paid plan of Slack the bot works in channels and messages. Slack\'s view for agents, its Stop button and user groups are missing there; write "stop" instead.\n';

/** A public address is wanted only by who sets it. */
function connectionOf({ SLACK_SIGNING_SECRET: secret = '', PUBLIC_URL: url = '' }: NodeJS.ProcessEnv) {
  const socket: SlackConnection = { mode: 'socket' };
  return secret !== '' && url !== '' ? slackConnection(url) : socket;
}

const APPROVERS = 'Who approves? Names, e-mail addresses or @groups, separated by commas';
const ADMINS = 'Who is told when something is wrong? Names or e-mail addresses';

async function keep(text: string): Promise<string> {
  return text;
}

async function checkUrl(text: string): Promise<string> {
  if (text === '' || (/^https?:/i.test(text) && URL.canParse(text))) return text;
  throw new Failure(`"${text}" is not a URL that begins with https:// or http://`);
}

async function findPeople(finder: PrincipalFinder, list: string): Promise<readonly FoundPrincipal[]> {
  const found = await finder.findAll(list);
  const group = found.find(({ id }) => id.startsWith('S'));
  if (group !== undefined) throw new Failure(`${group.name} is a user group; admins are people`);
  return found;
}

async function checkToken(
  method: string,
  token: string,
  prefix: string,
  environment: NodeJS.ProcessEnv,
): Promise<string> {
  if (!token.startsWith(prefix)) throw new Failure(`this token must start with ${prefix}`);
  const { ok, error } = await callSlack(method, token, {}, environment);
  if (!ok) throw new Failure(`Slack rejects this token (${error}); copy it again`);
  return token;
}

function describeSteps(connection: SlackConnection, isPaid: boolean): string {
  const use = { readsFiles: true, readsEmails: false, readsTopics: false };
  const slack = withShippedSlack(isPaid ? {} : NO_AGENT, use);
  return createSteps(createAppLink({ slack }, connection), connection);
}

/** Checks an answer and returns what it stands for; an answer that is wrong is a `Failure`. */
type Check<Value> = (text: string) => Promise<Value>;

/** Asks at the terminal for what is not given. Without a terminal the missing flags and settings are a `UsageError`. */
export class Questions {
  readonly #context: CommandContext;
  readonly #environment: NodeJS.ProcessEnv;
  readonly #lines: AsyncIterator<string> | undefined;
  readonly #close: () => void;
  /** Whether what is typed is not shown. */
  #isHidden = false;

  constructor(context: CommandContext, environment: NodeJS.ProcessEnv) {
    this.#context = context;
    this.#environment = environment;
    const { input } = context;
    // At a terminal this reader shows what is typed; elsewhere nothing does.
    const output = new Writable({
      write: (typed, _encoding, done) => {
        if (this.#isHidden) done();
        else context.write(String(typed)).then(() => done(), done);
      },
    });
    const isTerminal = input !== undefined && 'isTTY' in input && input.isTTY === true;
    const reader = input && createInterface({ input, output, terminal: isTerminal });
    reader?.on('SIGINT', () => reader.close());
    this.#lines = reader?.[Symbol.asyncIterator]();
    this.#close = () => reader?.close();
  }

  tell(text: string): Promise<void> {
    return this.#lines === undefined ? Promise.resolve() : this.#context.write(text);
  }

  /** Says something also where nobody is asked. */
  say(text: string): Promise<void> {
    return this.#context.write(text);
  }

  /** Asks for a yes or a no; where nobody is asked it is the preset. */
  async askYes(question: string, preset: boolean): Promise<boolean> {
    if (this.#lines === undefined) return preset;
    return this.#repeat(question, preset ? 'y' : 'n', async (text) => {
      if (!/^(?:y|yes|n|no)$/i.test(text)) throw new Failure('answer y or n');
      return /^y/i.test(text);
    });
  }

  /** Asks for a secret, which is not shown while it is typed. */
  async askSecret<Value>(setting: string, question: string, check: Check<Value>): Promise<Value> {
    return this.#ask(setting, question, check, { isHidden: true });
  }

  /** Returns a setting of the environment, or asks for it. */
  async ask<Value>(setting: string, question: string, check: Check<Value>, preset?: string): Promise<Value> {
    return this.#ask(setting, question, check, { preset });
  }

  async #ask<Value>(
    setting: string,
    question: string,
    check: Check<Value>,
    { preset, isHidden = false }: { readonly preset?: string | undefined; readonly isHidden?: boolean },
  ): Promise<Value> {
    const given = this.#environment[setting] ?? '';
    if (given !== '') return await explain(setting, () => check(given));
    if (this.#lines !== undefined) return await this.#repeat(question, preset, check, isHidden);
    if (preset === undefined)
      throw new UsageError(`${setting} is not set; set it, because this is not an interactive terminal`);
    return await check(preset);
  }

  /** Returns the value of a flag, or asks for it. */
  async askFor<Value>(
    flag: string,
    given: string | undefined,
    question: string,
    check: Check<Value>,
  ): Promise<Value> {
    if (given !== undefined) return await explain(flag, () => check(given));
    if (this.#lines === undefined)
      throw new UsageError(`${flag} is missing; set it, because this is not an interactive terminal`);
    return await this.#repeat(question, undefined, check);
  }

  close(): void {
    this.#close();
  }

  async #repeat<Value>(
    question: string,
    preset: string | undefined,
    check: Check<Value>,
    isHidden = false,
  ): Promise<Value> {
    const hint = preset === undefined || preset === '' ? '' : ` [${preset}]`;
    for (;;) {
      await this.#context.write(`${question}${hint}: `);
      this.#isHidden = isHidden;
      const next = await this.#lines?.next();
      this.#isHidden = false;
      if (isHidden) await this.#context.write('\n');
      if (next === undefined || next.done === true)
        throw new Failure('the input has ended; nothing was written');
      const text = next.value.trim() || preset;
      if (text === undefined) continue;
      try {
        return await check(text);
      } catch (error) {
        if (!(error instanceof Failure || error instanceof UsageError)) throw error;
        await this.#context.write(`  ${error.message}\n`);
      }
    }
  }
}

async function explain<Value>(name: string, check: () => Promise<Value>): Promise<Value> {
  try {
    return await check();
  } catch (error) {
    throw error instanceof Failure ? new Failure(`${name}: ${error.message}`) : error;
  }
}

/** Everything that a new bot needs to be told. */
export interface Answers {
  readonly slack: { readonly botToken: string } & (
    | { readonly mode: 'socket'; readonly appToken: string }
    | { readonly mode: 'http'; readonly signingSecret: string; readonly url: string }
  );
  /** Whether the workspace has a paid plan, without which it has no agents and no user groups. */
  readonly isPaid: boolean;
  readonly slackApiUrl: string | undefined;
  readonly approvers: readonly FoundPrincipal[];
  readonly admins: readonly FoundPrincipal[];
  readonly model: { readonly name: string; readonly baseUrl: string | undefined; readonly apiKey: string };
  readonly redisUrl: string;
}
