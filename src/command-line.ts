import { describeError } from './agent/errors.ts';
import { runCommandLine } from './commands/run-command-line.ts';
import { EXIT } from './commands/shared/command.ts';
import { loadCommandEnvironment, loadEnvironment } from './load-environment.ts';

/** Writes and waits until the text is flushed; a closed pipe (`| head`) ends the command without an error. */
function writer(stream: NodeJS.WriteStream): (text: string) => Promise<void> {
  stream.on('error', (error) => process.exit('code' in error && error.code === 'EPIPE' ? 0 : 1));
  return (text) => new Promise((resolve) => stream.write(text, () => resolve()));
}

/** Takes `--env-file FILE` out of a command line; behind "--" the words are another program's. */
function takeEnvFile(given: readonly string[]): { readonly argv: readonly string[]; readonly file?: string } {
  const at = given.indexOf('--env-file');
  const end = given.indexOf('--');
  if (at === -1 || (end !== -1 && end < at)) return { argv: given };
  return { argv: given.toSpliced(at, 2), file: given[at + 1] ?? '' };
}

const writeError = writer(process.stderr);
const { argv, file } = takeEnvFile(process.argv.slice(2));
/** Commands that make or are a bot of their own take no settings of the unit unless they are told to. */
const isOwn = argv[0] === 'init' || argv[0] === 'start';

async function readEnvironment(): Promise<NodeJS.ProcessEnv | undefined> {
  try {
    return file === undefined && isOwn ? loadEnvironment() : loadCommandEnvironment(file);
  } catch (error) {
    await writeError(`countersign: --env-file ${file}: ${describeError(error)}\n`);
    return undefined;
  }
}

const environment = await readEnvironment();
process.exitCode =
  environment === undefined
    ? EXIT.usage
    : await runCommandLine(argv, {
        environment,
        write: writer(process.stdout),
        writeError,
        startBot: () => import('./main.ts'),
        ...(process.stdin.isTTY && { input: process.stdin }),
      });
