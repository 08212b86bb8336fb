import { createInterface } from 'node:readline/promises';
import type { SlackConnection } from '../../tools/manifest/slack-manifest.ts';
import { type CommandContext, Failure, UsageError } from '../shared/command.ts';
import { slackConnection } from '../shared/options.ts';

/** Checks an answer and returns what it stands for; an answer that is wrong is a `Failure`. */
type Check<Value> = (text: string) => Promise<Value>;

/** Asks at the terminal for what is not given. Without a terminal the missing flags and settings are a `UsageError`. */
export class Questions {
  readonly #context: CommandContext;
  readonly #environment: NodeJS.ProcessEnv;
  readonly #lines: AsyncIterator<string> | undefined;
  readonly #close: () => void;

  constructor(context: CommandContext, environment: NodeJS.ProcessEnv) {
    this.#context = context;
    this.#environment = environment;
    const reader = context.input && createInterface({ input: context.input });
    this.#lines = reader?.[Symbol.asyncIterator]();
    this.#close = () => reader?.close();
  }

  tell(text: string): Promise<void> {
    return this.#lines === undefined ? Promise.resolve() : this.#context.write(text);
  }

  async askConnection({ SLACK_SIGNING_SECRET: secret = '', PUBLIC_URL: url = '' }: NodeJS.ProcessEnv) {
    if (this.#lines === undefined) return SOCKET;
    if (secret !== '' && url !== '') return slackConnection(url);
    const question = 'Public https URL of the bot (empty for Socket Mode, which needs none)';
    return this.#repeat(question, '', async (text) => (text === '' ? SOCKET : slackConnection(text)));
  }

  /** Returns a setting of the environment, or asks for it. */
  async ask<Value>(setting: string, question: string, check: Check<Value>, preset?: string): Promise<Value> {
    const given = this.#environment[setting] ?? '';
    if (given !== '') return await explain(setting, () => check(given));
    if (this.#lines !== undefined) return await this.#repeat(question, preset, check);
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

  async #repeat<Value>(question: string, preset: string | undefined, check: Check<Value>): Promise<Value> {
    const hint = preset === undefined || preset === '' ? '' : ` [${preset}]`;
    for (;;) {
      await this.#context.write(`${question}${hint}: `);
      const next = await this.#lines?.next();
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

const SOCKET: SlackConnection = { mode: 'socket' };

async function explain<Value>(name: string, check: () => Promise<Value>): Promise<Value> {
  try {
    return await check();
  } catch (error) {
    throw error instanceof Failure ? new Failure(`${name}: ${error.message}`) : error;
  }
}
