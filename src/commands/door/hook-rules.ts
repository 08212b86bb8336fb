import { parse as parseYaml } from 'yaml';
import { z } from 'zod';
import type { JsonObject } from '../../agent/json.ts';
import { matchesGlob } from '../../policy/rules.ts';

/** Stands for any further arguments, at the end of a list. */
const ANY = '*';

/** The program, what it does, and the star. */
const FEWEST_OPEN = 3;

const Arguments = z.array(z.string().min(1)).min(1).max(100);
const Rule = z
  .strictObject({
    tool: z.string().min(1),
    /** A command line, or its program and arguments. */
    command: z.union([z.string().min(1), Arguments]).optional(),
    /** The options that may stand where a list ends with "*". */
    options: z.array(z.string().startsWith('-')).max(1_000).optional(),
    any_arguments: z.literal(true).optional(),
    do: z.enum(['allow', 'here', 'slack', 'deny']),
    policy: z.string().min(1).optional(),
    reason: z.string().max(1_000).optional(),
  })
  .superRefine((rule, { addIssue }) => {
    const problem = problemOf(rule);
    if (problem !== undefined) addIssue({ code: 'custom', message: problem });
  });
/** A rule of the hook: which calls it is for, and what happens then. */
export type HookRule = Readonly<z.infer<typeof Rule>>;

const Rules = z.strictObject({
  wait: z.int().min(0).max(86_400).default(50),
  rules: z.array(Rule).max(1_000),
});
export type HookRules = Readonly<z.infer<typeof Rules>>;

function problemOf({
  command,
  options,
  any_arguments,
  do: action,
  policy,
}: Pick<HookRule, 'command' | 'options' | 'any_arguments' | 'do' | 'policy'>): string | undefined {
  if ((action === 'slack') !== (policy !== undefined))
    return 'a rule with "do: slack" has a "policy", and no other';
  const isOpen = typeof command !== 'string' && command?.at(-1) === ANY;
  if (command !== undefined && typeof command !== 'string' && command.slice(0, -1).some(hasStar))
    return `"${ANY}" stands for arguments at the end of the list only`;
  if (isOpen && command.length < FEWEST_OPEN)
    return `a list that ends with "${ANY}" begins with a program and what it does, such as [npm, test, "${ANY}"]; many programs run any other one (env sh)`;
  if (isOpen !== (options !== undefined))
    return `a list that ends with "${ANY}" has "options", the options that may stand there (or []), and no other`;
  const isPattern = typeof command === 'string' && hasStar(command);
  if (any_arguments === true && !(isPattern && action === 'allow'))
    return '"any_arguments" is for a pattern with "do: allow"';
  if (isPattern && action === 'allow' && any_arguments !== true)
    return `"${command}" allows every argument, and many programs run others by an argument (tar --checkpoint-action=exec=…). Write the command out, list its arguments ([git, log, "${ANY}"] with "options"), or add "any_arguments: true"`;
  return undefined;
}

function hasStar(text: string): boolean {
  return text.includes(ANY);
}

/** Reads the rules; throws one line that says where the first mistake is. */
export function readHookRules(text: string, path: string): HookRules {
  const { data, error } = Rules.safeParse(parseYaml(text));
  if (data !== undefined) return data;
  const [issue] = error.issues;
  throw new Error(`${path}: ${issue?.path.join('.') || 'rules'}: ${issue?.message}`);
}

/** Tells whether a rule is for a call. */
export function fitsHookRule(rule: HookRule, toolName: string, input: JsonObject): boolean {
  const { tool, command, do: action } = rule;
  if (!matchesGlob(tool, toolName)) return false;
  if (command === undefined) return true;
  const given = input.command;
  if (typeof given !== 'string') return false;
  if (typeof command !== 'string') return fitsArguments(rule, command, given);
  if (action !== 'allow') return matchesGlob(command, given);
  return hasStar(command) ? matchesGlob(command, given) && !SPECIAL.test(given) : command === given;
}

/** Matches text that a shell would read as more than one plain command. */
const SPECIAL = /[;&|<>$`\\\n\r(){}!#*?[\]~]/;
const QUOTES = /['"]/;

/** Compares word by word. What a shell would read otherwise than it is written fits no list. */
function fitsArguments({ options = [] }: HookRule, wanted: readonly string[], commandLine: string): boolean {
  if (SPECIAL.test(commandLine) || QUOTES.test(commandLine)) return false;
  const given = commandLine.trim().split(/[ \t]+/);
  const isOpen = wanted.at(-1) === ANY;
  const fixed = isOpen ? wanted.slice(0, -1) : wanted;
  const further = given.slice(fixed.length);
  return (
    fixed.every((word, index) => word === given[index]) &&
    (isOpen ? further.every((word) => !word.startsWith('-') || options.includes(word)) : further.length === 0)
  );
}
