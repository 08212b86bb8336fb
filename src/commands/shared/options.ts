import { parseArgs } from 'node:util';
import type { SlackConnection } from '../../tools/manifest/slack-manifest.ts';
import { UsageError } from './errors.ts';

interface Options {
  readonly [name: string]: { readonly type: 'boolean' | 'string' };
}

export interface ReadOptions<Given extends Options> {
  readonly values: {
    readonly [Name in keyof Given]?: (Given[Name]['type'] extends 'boolean' ? boolean : string) | undefined;
  };
  readonly positionals: readonly string[];
}

/** Reads the options of a command; one that it does not have, or a word too many, is a `UsageError`. */
export function readOptions<const Given extends Options>(
  args: readonly string[],
  options: Given,
  limits?: { readonly words: number },
): ReadOptions<Given>;
export function readOptions(args: readonly string[], options: Options, { words } = { words: 0 }) {
  const { values, positionals } = parse(args, options);
  const extra = positionals[words];
  if (extra !== undefined) throw new UsageError(`"${extra}" is one word too many`);
  return { values, positionals };
}

function parse(args: readonly string[], options: Options) {
  try {
    return parseArgs({ args: [...args], options, strict: true, allowPositionals: true });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    // Node goes on to explain how a word that begins with a dash can be given, which no command of ours takes.
    throw new UsageError(message.split('. ')[0] ?? message);
  }
}

export const HTTP_OPTION = { http: { type: 'string' } } as const;
export const HTTP_HELP =
  '  --http URL     have Slack call this public https URL instead of using Socket Mode';

/** The way of connection that the options ask for; only a URL that Slack would call is taken. */
export function slackConnection(url: string | undefined): SlackConnection {
  if (url === undefined) return { mode: 'socket' };
  if (!URL.canParse(url) || new URL(url).protocol !== 'https:')
    throw new UsageError(`--http wants a public https URL, and "${url}" is none`);
  return { mode: 'http', url };
}
