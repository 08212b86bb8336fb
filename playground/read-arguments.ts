import { parseArgs } from 'node:util';

export const PLAYGROUND_HELP = `Usage: npm run playground -- [options]

Starts Redis, a scripted model, a local Slack workspace and the bot, and prints the address of a web page to try them in.

  --port <number>     port of the page; default 4400 or the next free one, 0 for any free port
  --data <folder>     data folder, kept for the next start; default .playground
  --manifest <file>   manifest to use; default $MANIFEST or examples/shop/manifest.yml
  --reset             delete the data of earlier starts
  --help              print this help

Set OPENAI_API_KEY (and OPENAI_BASE_URL, OPENAI_MODEL if needed) to use a real model, and REDIS_URL to use another Redis.
`;

/** Options of the playground's command line. */
export interface PlaygroundArguments {
  /** Missing without `--port`: 4400, or the next free one. */
  readonly port?: number;
  readonly dataFolder: string;
  readonly manifest: string;
  readonly reset: boolean;
}

export type ReadArguments =
  | { readonly kind: 'start'; readonly arguments: PlaygroundArguments }
  | { readonly kind: 'help' }
  | {
      readonly kind: 'invalid';
      /** One sentence. */
      readonly problem: string;
    };

/** Reads the command line; an unknown argument is one error sentence, and nothing is guessed. */
export function readArguments(given: readonly string[], environment: NodeJS.ProcessEnv): ReadArguments {
  const parsed = parse(given);
  if (typeof parsed === 'string') return invalid(parsed);
  const { values, positionals } = parsed;
  if (values.help === true) return { kind: 'help' };
  const [word] = positionals;
  if (word !== undefined) return invalid(`unknown argument "${word}"`);
  const port = values.port === undefined ? undefined : parsePort(values.port);
  if (values.port !== undefined && port === undefined)
    return invalid(`--port takes a number from 0 to 65535, not "${values.port}"`);
  const dataFolder = values.data ?? '.playground';
  if (dataFolder === '') return invalid('--data takes the path of a folder');
  const [manifest = 'examples/shop/manifest.yml'] = [values.manifest, environment.MANIFEST].filter(
    (named) => named !== undefined && named !== '',
  );
  const asked = { dataFolder, manifest, reset: values.reset === true };
  return { kind: 'start', arguments: { ...asked, ...(port !== undefined && { port }) } };
}

function parse(given: readonly string[]) {
  try {
    return parseArgs({
      args: [...given],
      options: {
        port: { type: 'string' },
        data: { type: 'string' },
        manifest: { type: 'string' },
        reset: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
      allowPositionals: true,
    });
  } catch (error) {
    // Node adds advice for programmers after its first sentence.
    const [sentence = ''] = (error instanceof Error ? error.message : String(error)).split(/\.\s|\n/);
    return sentence.replace(/\.$/, '');
  }
}

function parsePort(text: string): number | undefined {
  const port = Number(text);
  return /^\d{1,5}$/.test(text) && port <= 65_535 ? port : undefined;
}

function invalid(what: string): ReadArguments {
  return { kind: 'invalid', problem: `${what}; see npm run playground -- --help.` };
}
