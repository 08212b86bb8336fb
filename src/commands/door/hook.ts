import { hash } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { z } from 'zod';
import { describeError } from '../../agent/errors.ts';
import { canonicalJson, type JsonObject, tryParseJson } from '../../agent/json.ts';
import { JsonRecord } from '../../agent/json-schema.ts';
import { type Ask, isUndecided } from '../../client/views.ts';
import { type Command, type CommandContext, readOptions } from '../shared/command.ts';
import { fitsHookRule, readHookRules } from './hook-rules.ts';
import { DOOR_HELP, openClient } from './open-client.ts';

/** The fields of a hook's payload that decide; an agent may send more. */
const Payload = z.looseObject({
  hook_event_name: z.enum(['PreToolUse', 'PermissionRequest', 'PostToolUse', 'PostToolUseFailure']),
  session_id: z.string(),
  cwd: z.string().min(1),
  tool_name: z.string().min(1),
  tool_input: JsonRecord,
});
type Payload = Readonly<z.infer<typeof Payload>>;
type HookEvent = Payload['hook_event_name'];

/** The decision about a call: it may run, it may not, or the person at the terminal is asked. */
interface Verdict {
  readonly decision: 'allow' | 'deny' | 'here';
  readonly reason: string;
}

type Agent = 'claude-code' | 'codex';
const TITLES: Readonly<Record<Agent, string>> = { 'claude-code': 'Claude Code', codex: 'Codex' };

/**
 * The answers that each agent understands to each event. Codex cannot ask or allow before a tool is used, so that there a call that a person has to
 * see is denied; at its own question silence leaves the question to the person.
 */
const ANSWERS: Readonly<Record<Agent, Partial<Record<HookEvent, (verdict: Verdict) => object | undefined>>>> =
  {
    'claude-code': {
      PreToolUse: ({ decision, reason }) => before(decision === 'here' ? 'ask' : decision, reason),
      PermissionRequest: atQuestion,
    },
    codex: {
      PreToolUse: ({ decision, reason }) => (decision === 'allow' ? undefined : before('deny', reason)),
      PermissionRequest: atQuestion,
    },
  };

function before(permissionDecision: string, permissionDecisionReason: string): object {
  return {
    hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision, permissionDecisionReason },
  };
}

function atQuestion({ decision, reason }: Verdict): object | undefined {
  if (decision === 'here') return undefined;
  const message = decision === 'deny' ? { message: reason } : {};
  return {
    hookSpecificOutput: { hookEventName: 'PermissionRequest', decision: { behavior: decision, ...message } },
  };
}

/** Decides about the calls of Claude Code. */
export const hookClaudeCode = createHook('claude-code');
/** Decides about the calls of Codex. */
export const hookCodex = createHook('codex');

/** An exit code that blocks the call in both agents. */
const BLOCKS = 2;

function createHook(agent: Agent): Command {
  return {
    help: `Usage: countersign hook ${agent} [--rules PATH]

Reads the JSON of a hook of ${TITLES[agent]} on stdin and answers in its format. The first rule that fits decides; without one,
and whenever something goes wrong, the person at the terminal is asked. Nothing is allowed by an error.

  wait: 50                     # seconds to wait for people in Slack, less than the timeout of the hook
  rules:
    - { tool: Read, do: allow }
    - { tool: Bash, command: [git, status], do: allow }
    - { tool: Bash, command: [git, log, "*"], options: [--oneline, -p], do: allow }
    - { tool: Bash, command: "terraform apply*", do: slack, policy: release }
    - { tool: Bash, command: "*prod*", do: deny, reason: Use the pipeline }
    - { tool: "*", do: here }

"allow" takes a command as it is written, or a list: of its arguments, and with "*" at the end of any others that are no
options but those in "options". A list fits no command with quotes or a shell's special characters. A pattern such as
"git *" needs "any_arguments: true" beside it. Patterns with "deny" stop mistakes; whoever wants to gets around them.
Run the hook for PostToolUse too: it reports what was approved in Slack as done, and withdraws a request that the person
at the terminal decided first.

Options:
  --rules PATH   the rules (default: ~/.config/countersign/hook.yml); keep them where the agent cannot write

${DOOR_HELP}
Exit code: 0 answered, 2 wrong usage. A payload that is not understood is wrong usage too; both agents block the call then.
`,
    async run(args, context) {
      const { values } = readOptions(args, { rules: { type: 'string' } });
      const payload = Payload.safeParse(tryParseJson(await readText(process.stdin))).data;
      if (payload === undefined) {
        await context.writeError('countersign: the payload of the hook was not understood\n');
        return BLOCKS;
      }
      const event = payload.hook_event_name;
      if (event === 'PostToolUse' || event === 'PostToolUseFailure') {
        await report(context, payload).catch(() => {});
        return 0;
      }
      const path = values.rules ?? join(homedir(), '.config/countersign/hook.yml');
      const verdict = await decide(context, { agent, payload, path }).catch(
        (error: unknown): Verdict => ({
          decision: 'here',
          reason: `Countersign could not decide: ${describeError(error)}`,
        }),
      );
      const answer = ANSWERS[agent][event]?.(verdict);
      if (answer !== undefined) await context.write(`${JSON.stringify(answer)}\n`);
      return 0;
    },
  };
}

interface Asked {
  readonly agent: Agent;
  readonly payload: Payload;
  /** The path of the rules. */
  readonly path: string;
}

async function decide(context: CommandContext, { agent, payload, path }: Asked): Promise<Verdict> {
  const rules = readHookRules(await readFile(path, 'utf8'), path);
  const { tool_name, tool_input } = payload;
  const rule = rules.rules.find((each) => fitsHookRule(each, tool_name, tool_input));
  if (rule === undefined) return { decision: 'here', reason: 'No rule of Countersign fits.' };
  const { do: action, policy, reason } = rule;
  if (action === 'slack')
    return askInSlack(context, { agent, payload, wait: rules.wait, policy: policy ?? '' });
  return { decision: action, reason: reason ?? `A rule of Countersign says: ${action}.` };
}

async function askInSlack(
  { environment }: CommandContext,
  {
    agent,
    payload,
    wait,
    policy,
  }: Pick<Asked, 'agent' | 'payload'> & { readonly wait: number; readonly policy: string },
): Promise<Verdict> {
  const door = openClient(environment);
  const { session_id, cwd, tool_name, tool_input } = payload;
  const { description } = tool_input;
  const body = {
    policy,
    title: `${TITLES[agent]}: ${tool_name}`.slice(0, 200),
    command: commandOf(tool_name, tool_input),
    directory: cwd,
    run: `session ${session_id}`.slice(0, 200),
    ...(typeof description === 'string' && { explanation: description.slice(0, 3_000) }),
  };
  let view = await door.ask(body);
  // Kept before the wait, so that a decision at the terminal withdraws what still waits in Slack.
  await keep(environment, payload, view.id);
  const until = performance.now() + wait * 1_000;
  while (isUndecided(view.status) && performance.now() < until) {
    const waitS = Math.min(30, Math.ceil((until - performance.now()) / 1_000));
    view = await door.awaitAsk(view.id, waitS);
  }
  if (view.status !== 'approved') return verdictOf(view);
  await door.startAsk(view.id);
  const approvers = view.decisions.map(({ by }) => by).join(', ');
  return { decision: 'allow', reason: `Approved in Slack${approvers === '' ? '' : ` by ${approvers}`}.` };
}

function verdictOf({ id, status, reason }: Ask): Verdict {
  if (status === 'rejected' || status === 'denied')
    return { decision: 'deny', reason: `Rejected in Slack${reason === undefined ? '.' : `: ${reason}`}` };
  return { decision: 'here', reason: `The request in Slack is ${status} (${id}).` };
}

/** The tool that runs a command line, in both agents. */
const SHELL = 'Bash';
const OTHER_INPUT = '\n# Other input: ';

/** Writes a call with all of its input, a command line as it is; two different calls are never the same text under the same title. */
function commandOf(tool: string, input: JsonObject): string {
  const { command, ...others } = input;
  if (tool !== SHELL || typeof command !== 'string') return `${tool} ${canonicalJson(input)}`;
  const isAlone = Object.keys(others).length === 0 && !command.includes(OTHER_INPUT);
  return isAlone ? command : `${command}${OTHER_INPUT}${canonicalJson(others)}`;
}

/** Keeps the request of a call until the hook hears of its end. */
async function keep(environment: NodeJS.ProcessEnv, payload: Payload, id: string): Promise<void> {
  const file = fileOf(environment, payload);
  await mkdir(join(file, '..'), { recursive: true, mode: 0o700 });
  await writeFile(file, id, { mode: 0o600 });
}

/**
 * Reports the end of a call that was approved in Slack; how far a failed one came, nobody knows. A request that was not started is
 * withdrawn: the call ran because the person at the terminal allowed it.
 */
async function report({ environment }: CommandContext, payload: Payload): Promise<void> {
  const file = fileOf(environment, payload);
  const id = await readFile(file, 'utf8');
  const door = openClient(environment);
  const { status } = await door.readAsk(id);
  const outcome = payload.hook_event_name === 'PostToolUse' ? 'succeeded' : 'unknown';
  if (status === 'running') await door.reportAsk(id, { outcome });
  else if (status === 'approved' || isUndecided(status)) await door.withdrawAsk(id);
  await rm(file, { force: true });
}

function fileOf(environment: NodeJS.ProcessEnv, { session_id, tool_name, tool_input }: Payload): string {
  const { XDG_STATE_HOME: state = join(homedir(), '.local/state') } = environment;
  const { command } = tool_input;
  // Codex describes the same call with other fields at its end.
  const what = typeof command === 'string' ? { command } : tool_input;
  const name = hash('sha256', canonicalJson({ session_id, tool_name, what }));
  return join(state, 'countersign/hook', name);
}
