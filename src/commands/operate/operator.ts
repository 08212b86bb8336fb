import { randomUUID } from 'node:crypto';
import { userInfo } from 'node:os';
import { createInterface } from 'node:readline/promises';
import { type CommandContext, UsageError } from '../shared/command.ts';

export const OPERATOR_OPTIONS = {
  reason: { type: 'string' },
  as: { type: 'string' },
  json: { type: 'boolean' },
} as const;

export const OPERATOR_HELP = `  --reason TEXT  why; it is asked for at a terminal, and is on record with the decision
  --as NAME      the name on record, as "operator:NAME" (default: the name of your account on this machine)
  --json         print one JSON object: ok, outcome`;

/** An operator at a terminal, as the record names them. */
export interface Operator {
  readonly who: string;
  readonly evidence: { readonly click: string; readonly operator: string };
  readonly reason: string;
}

/** Reads who decides and why; a decision without a reason is refused. */
export async function readOperator(
  given: { readonly reason?: string | undefined; readonly as?: string | undefined },
  { input, write }: CommandContext,
): Promise<Operator> {
  const reason = (given.reason ?? (input === undefined ? '' : await ask(input, write))).trim();
  if (reason === '') throw new UsageError('--reason is missing');
  const name = (given.as ?? accountName()).replace(/[^\w.-]+/g, '-');
  if (name === '') throw new UsageError('--as needs a name');
  return { who: `operator:${name}`, evidence: { click: randomUUID(), operator: name }, reason };
}

/** Returns the name of the account that runs the command; in a container it may have a number alone. */
export function accountName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid-${process.getuid?.() ?? 'unknown'}`;
  }
}

async function ask(input: NodeJS.ReadableStream, write: CommandContext['write']): Promise<string> {
  await write('Reason: ');
  const reader = createInterface({ input });
  try {
    for await (const line of reader) return line;
    return '';
  } finally {
    reader.close();
  }
}

/** Returns the id of the request that a command is about. */
export function requestArgument([requestId]: readonly string[]): string {
  if (requestId === undefined) throw new UsageError('name a request; "countersign pending" lists them');
  return requestId;
}

/** Writes why the record refused; `undefined` for a success. */
export function refusalOf(result: {
  readonly outcome: string;
  readonly state?: string;
  readonly by?: string;
}) {
  switch (result.outcome) {
    case 'settled':
      if (result.state === 'started') return 'it has already started';
      return `it is already ${result.state}${result.by === undefined || result.by === '' ? '' : ` by ${result.by}`}`;
    case 'not-unknown':
      return `its outcome is no longer unknown: it is ${result.state}`;
    case 'not-as-shown':
      return 'it was retried in the meantime; check it with "countersign show" and try again';
    default:
      return `it was refused (${result.outcome})`;
  }
}
