import { readFile } from 'node:fs/promises';
import { describeError } from '../agent/errors.ts';
import {
  type Command,
  type CommandContext,
  EXIT,
  PACKAGE_FILES,
  readOptions,
  UsageError,
} from './shared/command.ts';

interface Listed {
  /** One word or two. */
  readonly name: string;
  readonly summary: string;
  /** Loads the command when it is used: some import half the program, and a check of the manifest should be quick. */
  readonly load: () => Promise<Command>;
}

const COMMANDS: readonly Listed[] = [
  {
    name: 'init',
    summary: 'create a new bot project',
    load: async () => (await import('./init/init.ts')).init,
  },
  {
    name: 'start',
    summary: 'connect the bot to Slack',
    load: async () => start,
  },
  {
    name: 'manifest check',
    summary: 'find every mistake in the manifest',
    load: async () => (await import('./manifest/manifest-check.ts')).manifestCheck,
  },
  {
    name: 'manifest slack',
    summary: "print Slack's app manifest",
    load: async () => (await import('./manifest/manifest-slack.ts')).manifestSlack,
  },
  {
    name: 'manifest link',
    summary: 'print the link that creates the app in Slack',
    load: async () => (await import('./manifest/manifest-slack.ts')).manifestLink,
  },
  {
    name: 'manifest push',
    summary: "create or update the app through Slack's API",
    load: async () => (await import('./manifest/manifest-slack.ts')).manifestPush,
  },
  {
    name: 'manifest lock',
    summary: 'accept the definitions of all MCP tools as they are now',
    load: async () => (await import('./manifest/manifest-lock.ts')).manifestLock,
  },
  {
    name: 'manifest test',
    summary: 'run test cases against the approval rules',
    load: async () => (await import('./manifest/manifest-test.ts')).manifestTest,
  },
  {
    name: 'manifest replay',
    summary: 'replay logged calls against another manifest',
    load: async () => (await import('./manifest/manifest-replay.ts')).manifestReplay,
  },
  {
    name: 'manifest adopt',
    summary: 'replace an unreadable recorded manifest with the current file',
    load: async () => (await import('./manifest/manifest-adopt.ts')).manifestAdopt,
  },
  {
    name: 'explain',
    summary: 'say what the rules would do with a call, and why',
    load: async () => (await import('./explain.ts')).explain,
  },
  {
    name: 'doctor',
    summary: 'check settings, manifest, Redis, Slack, model and tools',
    load: async () => (await import('./doctor.ts')).doctor,
  },
  {
    name: 'pending',
    summary: 'list the requests that wait for people',
    load: async () => (await import('./operate/requests.ts')).pending,
  },
  {
    name: 'show',
    summary: 'show one request',
    load: async () => (await import('./operate/requests.ts')).show,
  },
  {
    name: 'cancel',
    summary: 'cancel a request that has not started',
    load: async () => (await import('./operate/requests.ts')).cancel,
  },
  {
    name: 'resolve',
    summary: 'record the outcome of an action when it is unknown',
    load: async () => (await import('./operate/requests.ts')).resolve,
  },
  {
    name: 'stats',
    summary: 'show approval rate and time per policy',
    load: async () => (await import('./operate/stats.ts')).stats,
  },
  {
    name: 'report',
    summary: 'write how people decide as one HTML file',
    load: async () => (await import('./operate/report.ts')).report,
  },
  {
    name: 'freeze',
    summary: 'stop new actions of one tool or all tools',
    load: async () => (await import('./operate/freeze.ts')).freeze,
  },
  {
    name: 'unfreeze',
    summary: 'end a freeze',
    load: async () => (await import('./operate/freeze.ts')).unfreeze,
  },
  {
    name: 'delegations',
    summary: 'list who decides for whom',
    load: async () => (await import('./operate/freeze.ts')).delegations,
  },
  {
    name: 'erase',
    summary: "remove a person's words from threads, requests and exports",
    load: async () => (await import('./operate/erase.ts')).erase,
  },
  {
    name: 'disconnect',
    summary: "remove a person's accounts at MCP servers",
    load: async () => (await import('./operate/disconnect.ts')).disconnect,
  },
  {
    name: 'usage',
    summary: 'list the tokens that were spent',
    load: async () => (await import('./operate/stats.ts')).usage,
  },
  {
    name: 'threads',
    summary: 'list the quarantined threads',
    load: async () => (await import('./operate/freeze.ts')).threads,
  },
  {
    name: 'retry',
    summary: 'let the bot continue a quarantined thread',
    load: async () => (await import('./operate/freeze.ts')).retry,
  },
  {
    name: 'ask',
    summary: 'run a command once people have approved it',
    load: async () => (await import('./door/ask.ts')).ask,
  },
  {
    name: 'hook claude-code',
    summary: 'decide about a tool call of Claude Code',
    load: async () => (await import('./door/hook.ts')).hookClaudeCode,
  },
  {
    name: 'hook codex',
    summary: 'decide about a tool call of Codex',
    load: async () => (await import('./door/hook.ts')).hookCodex,
  },
  {
    name: 'caller key',
    summary: 'make the key of a caller',
    load: async () => (await import('./door/caller-key.ts')).callerKey,
  },
  {
    name: 'audit',
    summary: 'list the audit log in chronological order',
    load: async () => (await import('./audit/audit.ts')).audit,
  },
  {
    name: 'audit verify',
    summary: 'check the audit log for tampering',
    load: async () => (await import('./audit/audit-verify.ts')).auditVerify,
  },
  {
    name: 'audit trim',
    summary: 'remove exported rows of the audit log from Redis',
    load: async () => (await import('./audit/audit.ts')).auditTrim,
  },
  {
    name: 'audit key',
    summary: 'make the key that signs the audit log',
    load: async () => (await import('./audit/audit.ts')).auditKey,
  },
];

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
function findCommand(argv: readonly string[]): Listed | undefined {
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

function usageOf(commands: readonly Listed[]): string {
  const width = Math.max(...commands.map(({ name }) => name.length)) + 2;
  const lines = commands.map(({ name, summary }) => `  ${name.padEnd(width)}${summary}\n`).join('');
  return `Usage: countersign <command>

${lines}
  -h, --help       show help, also for a single command
  -v, --version    show the version

Settings come from the environment and from .env in this folder ("countersign init" writes one). Exit code: 0 success, 1 a problem was found, 2 wrong usage.
`;
}

function wordsOf({ name }: Listed): string[] {
  return name.split(' ');
}

function asksForHelp(args: readonly string[]): boolean {
  // After "--" the words are another program's.
  const end = args.indexOf('--');
  const own = end === -1 ? args : args.slice(0, end);
  return own.includes('--help') || own.includes('-h');
}

/** Runs the bot until it is stopped; missing settings are named and end it at once. */
const start: Command = {
  help: `Usage: countersign start [--allow-missing-tools]

Connects the bot to Slack and runs until it is stopped (SIGINT, SIGTERM). Settings come from the environment. If one is
missing, or "countersign manifest check" finds a mistake, nothing is started; "countersign doctor" checks all of it.

  --allow-missing-tools  start although modules or commands of tools are missing; the admins are told which

Exit code: 0 stopped as asked, 1 a setting or the manifest is wrong, or the bot could not go on, 2 wrong usage.
`,
  async run(args, { startBot }) {
    readOptions(args, { 'allow-missing-tools': { type: 'boolean' } });
    if (startBot === undefined) throw new Error('The bot cannot be started from here');
    await startBot();
    return EXIT.ok;
  },
};
