import { type ChildProcess, spawn } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { access, constants, readFile, stat } from 'node:fs/promises';
import { constants as osConstants } from 'node:os';
import { errors } from 'jose';
import { parsePublicKeys } from '../../audit/signing-key.ts';
import { type CountersignClient, persist } from '../../client/client.ts';
import { RefusedError, UnreachableError } from '../../client/errors.ts';
import { type Ask, isUndecided, type Report } from '../../client/views.ts';
import { actionDigest, verifyReceipt } from '../../door/receipt.ts';
import { type ExactAction, MOST_FILES } from '../../tools/toolbox/caller-action.ts';
import { type Command, type CommandContext, readOptions, UsageError } from '../shared/command.ts';
import { DOOR_HELP, openClient } from './open-client.ts';

/** The exit codes of a command that was not run, or of which nobody knows; a command that ran has its own. */
export const ASK_EXIT = {
  rejected: 80,
  expired: 81,
  withdrawn: 82,
  unknown: 83,
  changed: 84,
  refused: 85,
} as const;
type Ending = keyof typeof ASK_EXIT;

const WAIT_S = 30;
/** A bot that is being deployed is back within this time. */
const PATIENCE_MS = 300_000;
/** The time between two lines about a bot that cannot be reached. */
const SAY_MS = 10_000;
const REPORT_MS = 60_000;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Asks people before it runs a command, and runs exactly what they approved, once. */
export const ask: Command = {
  help: `Usage: countersign ask --policy NAME [options] -- COMMAND [ARGUMENT...]

Asks in Slack whether the command may run, waits, and runs it if it was approved and nothing has changed: the command
line, the folder, the files that it names, the CI job and its attempt. Ctrl-C withdraws the request.

A file is compared if an argument is its path, or ends with "=" and its path. The card lists each with size and digest.
Nothing else that the command reads is compared: no folder, no program of PATH, no file that only a script names.

A bot that cannot be reached is asked again for 5 minutes, with a line each 10 seconds. Then the command ends with 85.

Options:
  --policy NAME         one of the "ask" policies of the caller
  --title TEXT          what it is, in a few words (default: the command line)
  --why TEXT            an explanation for the approvers
  --link URL            a link to the job, at one of the "links" hosts of the caller
  --file PATH           another file that must not change; may be given several times
  --report-within SEC   how long the command may take, up to 86400 (default: 3600); after that people are asked
  --audit-key PATH      the public key of the audit log; a receipt for this request must be signed with it
  --json                print the end as one line of JSON; the output of the command goes to stderr

${DOOR_HELP}
Exit code: 0 or another one of the command itself, 2 wrong usage. 80 rejected, 81 expired, 82 withdrawn, 83 unknown
whether it was taken or ran, 84 something changed while it waited, 85 refused or not reachable. With 80 to 85, but for
83, it did not run.
`,
  async run(args, context) {
    const end = args.indexOf('--');
    const [program, ...rest] = end === -1 ? [] : args.slice(end + 1);
    if (program === undefined) throw new UsageError('name the command after "--"');
    const { values } = readOptions(args.slice(0, end), {
      policy: { type: 'string' },
      title: { type: 'string' },
      why: { type: 'string' },
      link: { type: 'string' },
      file: { type: 'string', multiple: true },
      'report-within': { type: 'string' },
      'audit-key': { type: 'string' },
      json: { type: 'boolean' },
    });
    if (values.policy === undefined) throw new UsageError('--policy is missing');
    const reportWithin = Number(values['report-within'] ?? '3600');
    if (!Number.isInteger(reportWithin)) throw new UsageError('--report-within needs a number of seconds');
    const command = [program, ...rest];
    const { policy, title, file: paths = [] } = values;
    const describe = () => describeAction(context.environment, { policy, title, command, paths });
    return new Asking(context, {
      command,
      describe,
      reportWithin,
      why: values.why,
      link: values.link,
      auditKey: values['audit-key'],
      asJson: values.json === true,
    }).run();
  },
};

interface Wanted {
  readonly command: readonly string[];
  /** Describes exactly what would run, as it is now. */
  readonly describe: () => Promise<ExactAction>;
  readonly reportWithin: number;
  readonly why: string | undefined;
  readonly link: string | undefined;
  readonly auditKey: string | undefined;
  readonly asJson: boolean;
}

class Asking {
  readonly #context: CommandContext;
  readonly #wanted: Wanted;
  readonly #door: CountersignClient;
  readonly #stopped = new AbortController();
  #child: ChildProcess | undefined;
  #said = '';

  constructor(context: CommandContext, wanted: Wanted) {
    this.#context = context;
    this.#wanted = wanted;
    this.#door = openClient(context.environment);
  }

  async run(): Promise<number> {
    const stop = (signal: NodeJS.Signals) => {
      this.#stopped.abort();
      // A running command gets the signal, and its end is reported as any other; Ctrl-C has reached it already.
      if (signal !== 'SIGINT' || !process.stdin.isTTY) this.#child?.kill(signal);
    };
    for (const signal of SIGNALS) process.on(signal, stop);
    try {
      return await this.#ask();
    } catch (error) {
      if (!(error instanceof RefusedError || error instanceof UnreachableError)) throw error;
      return this.#end('refused', error.message);
    } finally {
      for (const signal of SIGNALS) process.off(signal, stop);
    }
  }

  async #ask(): Promise<number> {
    const { why, link, reportWithin, describe } = this.#wanted;
    const action = await describe();
    const digest = actionDigest(action);
    const body = {
      ...action,
      report_within: reportWithin,
      ...(why !== undefined && { explanation: why }),
      ...(link !== undefined && { link }),
    };
    const idempotencyKey = randomUUID();
    const first = await this.#persist(() => this.#door.ask(body, { idempotencyKey }));
    const view = await this.#waitFor(first);
    if (view === undefined) return this.#withdraw(first.id, 'withdrawn', 'Withdrawn by you.');
    switch (view.status) {
      case 'approved':
        break;
      case 'rejected':
      case 'expired':
      case 'withdrawn':
        return this.#end(view.status, view.reason, view);
      case 'running':
      case 'unknown':
        return this.#end('unknown', 'Another process has started it.', view);
      default:
        return this.#end('refused', view.reason ?? `The request is ${view.status}.`, view);
    }
    if (view.digest !== digest)
      return this.#withdraw(view.id, 'changed', 'People approved something else.', view);
    const now = await describe().then(actionDigest, () => '');
    if (now !== digest) return this.#withdraw(view.id, 'changed', 'Something changed while it waited.', view);
    await this.#verify(view, digest);
    if (this.#stopped.signal.aborted) return this.#withdraw(view.id, 'withdrawn', 'Withdrawn by you.', view);
    return this.#start(view);
  }

  /** Waits until people have decided; `undefined` if the person at the terminal has had enough. */
  async #waitFor(first: Ask): Promise<Ask | undefined> {
    const { signal } = this.#stopped;
    let view = first;
    while (isUndecided(view.status)) {
      if (signal.aborted) return undefined;
      await this.#say(describeWait(view));
      const read = () => this.#door.awaitAsk(first.id, WAIT_S, signal);
      try {
        view = await this.#persist(read);
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    }
    return signal.aborted ? undefined : view;
  }

  /** Checks the receipt: signed with the audit key, for this request and exactly this, and not too old to start. */
  async #verify({ id, receipt }: Ask, digest: string): Promise<void> {
    const { auditKey } = this.#wanted;
    if (auditKey === undefined) return;
    const genuine = await verifyReceipt(
      receipt ?? '',
      parsePublicKeys(await readFile(auditKey, 'utf8')),
    ).catch((error: unknown) => (error instanceof errors.JWTExpired ? 'over' : undefined));
    if (genuine === undefined)
      throw new RefusedError('receipt', 'The receipt is not signed with the audit key.');
    if (genuine === 'over' || genuine.ask !== id || genuine.digest !== digest)
      throw new RefusedError('receipt', 'The receipt is for another request, or too old.');
  }

  async #start(approved: Ask): Promise<number> {
    const { id } = approved;
    try {
      // Never sent twice: of a start whose answer is lost nobody knows whether it was taken.
      await this.#door.startAsk(id);
    } catch (error) {
      if (!(error instanceof UnreachableError)) throw error;
      return this.#end(
        'unknown',
        'It is not known whether the start was taken; the command did not run.',
        approved,
      );
    }
    const approvers = approved.decisions.map(({ by }) => by).join(', ');
    await this.#say(`Approved${approvers === '' ? '' : ` by ${approvers}`}. Running.`);
    const ended = await this.#spawn();
    const report: Report =
      ended.kind === 'not-run'
        ? { outcome: 'failed', summary: ended.problem }
        : {
            // Of a command that fails nobody knows how far it came.
            outcome: ended.code === 0 ? 'succeeded' : 'unknown',
            exit_code: ended.code,
          };
    const exitCode = ended.kind === 'not-run' ? NOT_FOUND : ended.code;
    if (ended.kind === 'not-run') await this.#say(ended.problem);
    const reported = await persist(() => this.#door.reportAsk(id, report), { forMs: REPORT_MS }).catch(
      () => undefined,
    );
    if (reported === undefined) await this.#say('The end could not be reported; people will be asked.');
    await this.#json({ ...(reported ?? approved), exit_code: exitCode });
    return exitCode;
  }

  /** Runs the command as it is, without a shell. */
  #spawn(): Promise<{ kind: 'ended'; code: number } | { kind: 'not-run'; problem: string }> {
    if (this.#stopped.signal.aborted)
      return Promise.resolve({ kind: 'not-run', problem: 'It did not run: stopped by you.' });
    const [program = '', ...args] = this.#wanted.command;
    const child = spawn(program, args, {
      stdio: ['inherit', this.#wanted.asJson ? 2 : 'inherit', 'inherit'],
    });
    this.#child = child;
    return new Promise((resolve) => {
      child.once('error', ({ message }) =>
        resolve({ kind: 'not-run', problem: `It did not run: ${message}` }),
      );
      child.once('exit', (code, signal) =>
        resolve({ kind: 'ended', code: code ?? 128 + (signal === null ? 0 : osConstants.signals[signal]) }),
      );
    });
  }

  async #withdraw(id: string, ending: Ending, why: string, seen?: Ask): Promise<number> {
    const ended = await persist(() => this.#door.withdrawAsk(id), { forMs: REPORT_MS }).catch(
      () => undefined,
    );
    if (ended === undefined) await this.#say('It could not be withdrawn; it expires by itself.');
    return this.#end(ending, why, ended ?? seen);
  }

  #persist(work: () => Promise<Ask>): Promise<Ask> {
    let saidMs = Number.NEGATIVE_INFINITY;
    return persist(work, {
      forMs: PATIENCE_MS,
      signal: this.#stopped.signal,
      onFailure: async ({ message }, sinceMs) => {
        if (sinceMs - saidMs < SAY_MS) return;
        saidMs = sinceMs;
        const left = Math.ceil((PATIENCE_MS - sinceMs) / 1_000);
        await this.#say(`${message}. Asking again for ${left} seconds`);
      },
    });
  }

  async #end(ending: Ending, why: string | undefined, view?: Ask): Promise<number> {
    const title = `${ending.charAt(0).toUpperCase()}${ending.slice(1)}`;
    await this.#say(why === undefined || why === '' ? `${title}.` : `${title}: ${why}`);
    await this.#json({ ...view, status: ending, exit_code: ASK_EXIT[ending] });
    return ASK_EXIT[ending];
  }

  /** Says each thing once: a log of a CI job is no terminal. */
  async #say(text: string): Promise<void> {
    if (text === this.#said) return;
    this.#said = text;
    await this.#context.writeError(`countersign: ${text}\n`);
  }

  async #json(end: object): Promise<void> {
    if (this.#wanted.asJson) await this.#context.write(`${JSON.stringify(end)}\n`);
  }
}

/** The exit code of a shell for a command that it cannot run. */
const NOT_FOUND = 127;

function describeWait({ id, decisions, expires_at: until }: Ask): string {
  const approvals = decisions.filter(({ decision }) => decision === 'approve').length;
  const soFar = approvals === 0 ? '' : `, ${approvals} approved so far`;
  return `Waiting for approval in Slack${soFar}${until === undefined ? '' : ` until ${until}`} (request ${id})`;
}

async function describeAction(
  environment: NodeJS.ProcessEnv,
  wanted: {
    readonly policy: string;
    readonly title: string | undefined;
    readonly command: readonly string[];
    readonly paths: readonly string[];
  },
): Promise<ExactAction> {
  const command = wanted.command.map(quote).join(' ');
  const run = jobOf(environment);
  const files = await describeFiles(wanted);
  return {
    policy: wanted.policy,
    title: wanted.title ?? shorten(command),
    command,
    directory: process.cwd(),
    ...(files.length > 0 && { files }),
    ...(run !== undefined && { run }),
  };
}

const LONGEST_TITLE = 200;

function shorten(text: string): string {
  return text.length <= LONGEST_TITLE ? text : `${text.slice(0, LONGEST_TITLE - 1)}…`;
}

/** Writes an argument as a shell reads it, so that two different command lines never look the same. */
export function quote(argument: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", "'\\''")}'`;
}

/** Describes each file that a command or an option names, by its size and digest. */
async function describeFiles({
  command: [program = '', ...args],
  paths,
}: Pick<Wanted, 'command'> & { readonly paths: readonly string[] }): Promise<
  NonNullable<ExactAction['files']>
> {
  // Without a slash it is a program of PATH, whatever lies in the folder.
  const named = [...(program.includes('/') ? [program] : []), ...args.flatMap(pathsIn)];
  const existing = await Promise.all(named.map(async (path) => ((await isReadableFile(path)) ? [path] : [])));
  const all = [...new Set([...paths, ...existing.flat()])];
  if (all.length > MOST_FILES)
    throw new UsageError(`the command names ${all.length} files, and at most ${MOST_FILES} are compared`);
  return Promise.all(all.map(describeFile));
}

/** Returns the texts in an argument that may be a path. */
function pathsIn(argument: string): readonly string[] {
  const after = argument.indexOf('=') + 1;
  return after === 0 ? [argument] : [argument, argument.slice(after)];
}

async function isReadableFile(path: string): Promise<boolean> {
  try {
    await access(path, constants.R_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}

async function describeFile(path: string): Promise<{ path: string; size: number; sha256: string }> {
  const hash = createHash('sha256');
  let size = 0;
  try {
    for await (const chunk of createReadStream(path)) {
      hash.update(chunk);
      size += chunk.length;
    }
  } catch (cause) {
    throw new UsageError(`the file "${path}" cannot be read`, { cause });
  }
  return { path, size, sha256: hash.digest('hex') };
}

/** Names the CI job and its attempt: an approval is not for the next one. */
function jobOf({
  GITHUB_RUN_ID: github,
  GITHUB_RUN_ATTEMPT: attempt = '1',
  GITHUB_REPOSITORY: repository = '',
  GITHUB_JOB: job = '',
  CI_JOB_URL: gitlab,
  BUILD_URL: jenkins,
}: NodeJS.ProcessEnv): string | undefined {
  if (github !== undefined && github !== '')
    return `${repository} ${job} run ${github} attempt ${attempt}`.trim();
  return gitlab ?? jenkins;
}
