import { type ParseArgsConfig, parseArgs } from 'node:util';
import { UsageError } from './usage-error.ts';

type Options = NonNullable<ParseArgsConfig['options']>;

/** Reads the options of a command; one that it does not have, or a word too many, is a `UsageError`. */
export function readOptions<const Given extends Options>(
  args: readonly string[],
  options: Given,
  { words = 0 }: { readonly words?: number } = {},
) {
  const read = parse(args, options);
  const extra = read.positionals[words];
  if (extra !== undefined) throw new UsageError(`"${extra}" is one word too many`);
  return read;
}

function parse<const Given extends Options>(args: readonly string[], options: Given) {
  try {
    return parseArgs({ args: [...args], options, strict: true, allowPositionals: true });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    // Node goes on to explain how a word that begins with a dash can be given, which no command of ours takes.
    throw new UsageError(message.split('. ')[0] ?? message);
  }
}
