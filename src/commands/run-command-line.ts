import { readFile } from 'node:fs/promises';
import { describeError } from '../agent/errors.ts';
import { COMMANDS } from './commands.ts';
import {
  type CommandContext,
  EXIT,
  type ListedCommand,
  PACKAGE_FILES,
  UsageError,
} from './shared/command.ts';

/** Runs one command line and returns its exit code; any error is one message without a stack. */
export async function runCommandLine(given: readonly string[], context: CommandContext): Promise<number> {
  // "help doctor" is "doctor --help".
  const argv = given[0] === 'help' ? [...given.slice(1), '--help'] : given;
  const listed = findCommand(argv);
  const called = listed === undefined ? 'countersign' : `countersign ${listed.name}`;
  try {
    if (listed === undefined) return await runWithoutCommand(argv, context);
    const args = argv.slice(wordsOf(listed).length);
    const command = await listed.load();
    if (!asksForHelp(args)) return await command.run(args, context);
    await context.write(command.help);
    return EXIT.ok;
  } catch (error) {
    await context.writeError(`${called}: ${describeError(error)}\n`);
    if (!(error instanceof UsageError)) return EXIT.problem;
    await context.writeError(`See "${called} --help".\n`);
    return EXIT.usage;
  }
}

/** Finds the command with the most words that the line begins with. */
function findCommand(argv: readonly string[]): ListedCommand | undefined {
  const matching = COMMANDS.filter((command) =>
    wordsOf(command).every((word, index) => argv[index] === word),
  );
  return matching.sort((left, right) => wordsOf(right).length - wordsOf(left).length)[0];
}

async function runWithoutCommand(argv: readonly string[], { write }: CommandContext): Promise<number> {
  const [first, second] = argv;
  const group = COMMANDS.filter((command) => first !== undefined && command.name.startsWith(`${first} `));
  // Help for what is no command is refused below.
  const isKnown = isOption(first) || (group.length > 0 && isOption(second));
  if (asksForHelp(argv) && isKnown) {
    await write(usageOf(group.length > 0 ? group : COMMANDS));
    return EXIT.ok;
  }
  if (first === '--version' || first === '-v') {
    const text = await readFile(new URL('package.json', PACKAGE_FILES), 'utf8');
    await write(`${JSON.parse(text).version}\n`);
    return EXIT.ok;
  }
  if (first === undefined) throw new UsageError('no command given');
  if (group.length === 0) throw new UsageError(`unknown command "${first}"`);
  const choices = group.map(({ name }) => `"${name}"`).join(', ');
  if (second === undefined) throw new UsageError(`"${first}" needs a subcommand: ${choices}`);
  throw new UsageError(`unknown command "${first} ${second}"; use ${choices}`);
}

function isOption(word = '-'): boolean {
  return word.startsWith('-');
}

function usageOf(commands: readonly ListedCommand[]): string {
  const width = Math.max(...commands.map(({ name }) => name.length)) + 2;
  const lines = commands.map(({ name, summary }) => `  ${name.padEnd(width)}${summary}\n`).join('');
  return `Usage: countersign <command>

${lines}
  -h, --help       show help, also for a single command
  -v, --version    show the version
  --env-file FILE  read settings from another file than .env

Settings come from the environment and from .env in this folder ("countersign init" writes one), else from
/etc/countersign/countersign.env, where the systemd unit has them. Exit code: 0 success, 1 a problem was found, 2 wrong usage.
`;
}

function wordsOf({ name }: ListedCommand): string[] {
  return name.split(' ');
}

function asksForHelp(args: readonly string[]): boolean {
  // After "--" the words are another program's.
  const end = args.indexOf('--');
  const own = end === -1 ? args : args.slice(0, end);
  return own.includes('--help') || own.includes('-h');
}
