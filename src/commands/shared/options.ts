import { parseArgs } from 'node:util';
import { describeError } from '../../agent/errors.ts';
import { DURATION, durationMs } from '../../tools/manifest/schema/values.ts';
import type { SlackConnection } from '../../tools/manifest/slack-manifest.ts';
import { UsageError } from './command.ts';

interface Options {
  readonly [name: string]: { readonly type: 'boolean' | 'string'; readonly multiple?: true };
}

type ValueOf<Option extends Options[string]> = Option['type'] extends 'boolean'
  ? boolean
  : Option['multiple'] extends true
    ? readonly string[]
    : string;

export interface ReadOptions<Given extends Options> {
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
