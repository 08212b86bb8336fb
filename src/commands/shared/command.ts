import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { describeError } from '../../agent/errors.ts';
import { DURATION, durationMs } from '../../tools/manifest/schema/values.ts';
import type { SlackConnection } from '../../tools/manifest/slack-manifest.ts';

/** The environment and the output of a command. */
export interface CommandContext {
  readonly environment: NodeJS.ProcessEnv;
  /** Resolves when the text is flushed, so that a slow reader slows the command down. */
  readonly write: (text: string) => Promise<void>;
  readonly writeError: (text: string) => Promise<void>;
  /** The terminal of a person who can be asked; without it no command asks. */
  readonly input?: NodeJS.ReadableStream;
  /** Ends a command that would run for ever. */
  readonly signal?: AbortSignal;
  /** The prefix of all keys in Redis. */
  readonly prefix?: string;
  /** Starts the bot in this process, where that is possible. */
  readonly startBot?: () => Promise<unknown>;
}

/** Exit codes for scripts: success, a problem was found, wrong usage. */
export const EXIT = { ok: 0, problem: 1, usage: 2 } as const;

/** One command of the command line. */
export interface Command {
  readonly help: string;
  run(args: readonly string[], context: CommandContext): Promise<number>;
}

/** A command as the help lists it. */
export interface ListedCommand {
  /** One word or two. */
  readonly name: string;
  readonly summary: string;
  /** Loads the command when it is used: some import half the program, and a check of the manifest should be quick. */
  readonly load: () => Promise<Command>;
}

/** A command cannot continue; the message is one sentence for the person at the terminal. */
export class Failure extends Error {
  override readonly name = 'Failure';
}

/** The command line is wrong; the message says which part, and nothing was done. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

interface Options {
  readonly [name: string]: { readonly type: 'boolean' | 'string'; readonly multiple?: true };
}

type ValueOf<Option extends Options[string]> = Option['type'] extends 'boolean'
  ? boolean
  : Option['multiple'] extends true
    ? readonly string[]
    : string;

interface ReadOptions<Given extends Options> {
  readonly values: {
    readonly [Name in keyof Given]?: ValueOf<Given[Name]> | undefined;
  };
  readonly positionals: readonly string[];
}

/** Reads the options of a command; an unknown option or an extra argument is a `UsageError`. */
export function readOptions<const Given extends Options>(
  args: readonly string[],
  options: Given,
  limits?: { readonly positionals: number },
): ReadOptions<Given>;
export function readOptions(
  args: readonly string[],
  options: Options,
  limits = { positionals: 0 },
): { readonly values: object; readonly positionals: readonly string[] } {
  const { values, positionals } = parse(args, options);
  const extra = positionals[limits.positionals];
  if (extra !== undefined) throw new UsageError(`unexpected argument "${extra}"`);
  return { values, positionals };
}

function parse(args: readonly string[], options: Options) {
  try {
    return parseArgs({ args: [...args], options, strict: true, allowPositionals: true });
  } catch (error) {
    const message = describeError(error);
    // Node also explains how to pass an argument that begins with a dash, which no command takes.
    throw new UsageError(message.split('. ')[0] ?? message);
  }
}

export const HTTP_OPTION = { http: { type: 'string' } } as const;
export const HTTP_HELP =
  '  --http URL     have Slack call this public https URL instead of using Socket Mode';

/** Returns the kind of connection that the options ask for; Slack calls only https URLs. */
export function slackConnection(url: string | undefined): SlackConnection {
  if (url === undefined) return { mode: 'socket' };
  if (!URL.canParse(url) || new URL(url).protocol !== 'https:')
    throw new UsageError(`--http needs a public https URL, but got "${url}"`);
  return { mode: 'http', url };
}

/** Parses the value of an option: a date, a time or an age. */
export function parseTime(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (DURATION.test(text)) return Date.now() - durationMs(text);
  const time = Date.parse(text);
  if (Number.isNaN(time))
    throw new UsageError(`${option} needs a date, a time or an age such as 2d, but got "${text}"`);
  return time;
}

/** Formats rows as columns of equal width, the first row as headings; columns in `right` are aligned to the right. */
export function formatTable(rows: readonly (readonly string[])[], right: readonly number[] = []): string[] {
  const columns = rows[0] ?? [];
  const widths = columns.map((_, index) => Math.max(...rows.map((row) => row[index]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, index) => {
        const width = widths[index] ?? 0;
        return right.includes(index) ? cell.padStart(width) : cell.padEnd(width);
      })
      .join('  ')
      .trimEnd(),
  );
}

/** The folder of the package, which is further up from the source than from the bundle. */
export const PACKAGE_FILES = findPackage();

function findPackage(): URL {
  let folder = new URL('.', import.meta.url);
  while (!existsSync(new URL('package.json', folder)) && folder.pathname !== '/')
    folder = new URL('..', folder);
  return folder;
}
