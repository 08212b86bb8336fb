import { z } from 'zod';
import { defineTool } from '../../agent/define-tool.ts';
import type { Interrupt } from '../../agent/messages.ts';
import type { JudgedCall } from '../../policy/condition.ts';
import { compileApprovalRules, judgeStrictly, matchesGlob } from '../../policy/rules.ts';
import { callerNamed } from '../callers.ts';
import { gate } from '../gate.ts';
import type { Manifest } from '../manifest/manifest.ts';
import { createPresentation } from '../presentation/presentation.ts';
import type { RuledEntry } from './toolbox.ts';

/** The name of the tool whose effect happens elsewhere: the caller runs the action itself. */
export const CALLER_ACTION_TOOL = 'caller_action';

const LONGEST_TEXT = 100_000;
/** The number of files that an action can name. */
export const MOST_FILES = 100;

/** The exact thing that a caller wants to run itself. */
export const ExactAction = z.strictObject({
  policy: z.string().min(1).max(64).describe('One of the "ask" policies of the caller.'),
  title: z
    .string()
    .min(1)
    .max(200)
    .describe('What it is, in the words of the caller. People see them as such.'),
  command: z.string().min(1).max(LONGEST_TEXT).optional().describe('The command line.'),
  directory: z.string().min(1).max(4_096).optional().describe('The folder that it runs in.'),
  files: z
    .array(
      z.strictObject({
        path: z.string().min(1).max(4_096),
        size: z.int().min(0).optional().describe('In bytes.'),
        sha256: z.hash('sha256'),
      }),
    )
    .max(MOST_FILES)
    .optional()
    .describe('Files that it depends on, by their digest.'),
  diff: z.string().min(1).max(LONGEST_TEXT).optional().describe('What it would change.'),
  run: z.string().min(1).max(200).optional().describe('The job and its attempt.'),
});
export type ExactAction = Readonly<z.infer<typeof ExactAction>>;

const MAX_REPORT_S = 86_400;
const REPORT_S = 3_600;
export const ReportWithin = z
  .int()
  .min(1)
  .max(MAX_REPORT_S)
  .default(REPORT_S)
  .describe('How many seconds after its start the caller reports the outcome; silence makes it unknown.');

const CallerAction = z.strictObject({
  caller: z.string(),
  ...ExactAction.shape,
  report_within: ReportWithin,
});

/** What a caller says about the end of an action that it ran itself. */
export const Report = z
  .strictObject({
    outcome: z
      .enum(['succeeded', 'failed', 'unknown'])
      .describe('failed: it is known that it did not happen; unknown: people are asked.'),
    exit_code: z.int().optional(),
    summary: z.string().max(3_000).optional().describe('In the words of the caller.'),
  })
  .describe('The outcome of an action that the caller ran itself.');
export type Report = Readonly<z.infer<typeof Report>>;

/** Returns the caller that runs a call itself; `undefined` for any other call. */
export function callerIn({ toolRequest: { name, input } }: Interrupt): string | undefined {
  return name === CALLER_ACTION_TOOL ? CallerAction.safeParse(input).data?.caller : undefined;
}

const LONGEST_NAME = 80;

/**
 * Names an action in quotes by its command or the caller's title, so that those who confirm its outcome know which one it was. Quotes
 * like ours become straight ones, so that the name cannot leave them; the card has the command as it is.
 */
function nameOf({ command, title }: z.infer<typeof CallerAction>): string {
  const name = (command ?? title).replace(/[“”„‟″❝❞〝〞＂]/g, '"');
  return `“${name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME)}…` : name}”`;
}

/** Lists the files by which an action is approved, or says that its words alone are. */
function filesText(files: NonNullable<ExactAction['files']>): string {
  if (files.length === 0)
    return 'None compared. An approval covers the words of the command, not what it reads.';
  const lines = files.map(
    ({ path, size, sha256 }) => `${path} ${size === undefined ? '' : `${size} bytes `}sha256:${sha256}`,
  );
  return [...lines, 'Nothing else that it reads is compared.'].join('\n');
}

/**
 * Builds the entry of the tool that stands for what callers run themselves. No model is offered it. Its rules are the "ask" lists of the
 * callers, so that a caller that loses a policy is denied also after people have approved. The record lets only the caller start it.
 */
export function callerActionEntries({ callers, policies, agent, ...others }: Manifest): RuledEntry[] {
  const asking = [...callers.values()].filter(({ ask }) => ask.length > 0);
  if (asking.length === 0) return [];
  const policyOf = (name: string) => policies.get(name);
  const tool = defineTool(
    {
      name: CALLER_ACTION_TOOL,
      description: 'The caller runs this itself, outside of Countersign, which cannot enforce the decision.',
      inputSchema: CallerAction,
      outputSchema: Report,
      title: (action) => `Allow ${action.caller} to run ${nameOf(action)}`,
      done: (action) => `${action.caller} ran ${nameOf(action)}`,
      fields: ({ caller, title, command, directory, files, diff, run }) => ({
        'How it runs': `Runs on ${caller}'s own machine. Countersign records the decision and can't enforce it.`,
        // A title that is the command says nothing more.
        ...(title !== command && { [`Title from ${caller}`]: title }),
        ...(command !== undefined && { Command: command }),
        ...(directory !== undefined && { Folder: directory }),
        ...((command !== undefined || files !== undefined) && { Files: filesText(files ?? []) }),
        ...(diff !== undefined && { Changes: diff }),
        ...(run !== undefined && { Job: run }),
      }),
    },
    async ({ caller }) => {
      throw new Error(`Only ${caller} runs this`);
    },
  );
  const rules = [
    ...asking.flatMap(({ name, ask }) =>
      ask.map((policy) => ({
        policy,
        because: `${name} may run it itself only with approval`,
        when: `input.caller == "${name}" && input.policy == "${policy}"`,
      })),
    ),
    { require: 'deny' as const, reason: 'This caller may not ask under this policy.' },
  ];
  const freezes = others.freezes.filter(({ tools }) =>
    tools.some((pattern) => matchesGlob(pattern, tool.name)),
  );
  const compiled = compileApprovalRules(rules, (policy) => policyOf(policy)?.timeZone ?? agent.timeZone);
  const judge = (call: Omit<JudgedCall, 'tool'>) =>
    judgeStrictly(compiled, { tool: tool.name, ...call }, policyOf);
  const notAllowed: RuledEntry['notAllowed'] = ({ requesters }) => {
    const named = requesters.flatMap((id) => callerNamed(id) ?? []);
    if (named.length === 0) return { why: 'person', person: requesters[0] ?? '' };
    const caller = named.find((name) => !asking.some((each) => each.name === name));
    return caller === undefined ? undefined : { why: callers.has(caller) ? 'caller' : 'no-caller', caller };
  };
  const allows: RuledEntry['allows'] = (place) => notAllowed(place) === undefined;
  return [
    {
      tool: gate(tool, compiled, { policyOf, allows }),
      source: 'built-in',
      execution: { idempotent: false, maxAttempts: 1, retryForMs: 0, elsewhere: true },
      behind: {},
      judge: (input, place) => judge({ input, ...place }).verdict,
      explain: async (call) => judge(call),
      allows,
      notAllowed,
      presentation: createPresentation(tool, {}),
      rules,
      isListedIn: () => true,
      limits: [],
      freezes,
      // The caller runs it, and nobody here knows whether it can be taken back.
      reversible: 'no',
      // Nobody is offered it: only callers ask for it.
      allow: { channels: [], people: [], groups: undefined },
    },
  ];
}
