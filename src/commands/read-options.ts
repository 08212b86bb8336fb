import { parseArgs } from 'node:util';
import { UsageError } from './usage-error.ts';

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
