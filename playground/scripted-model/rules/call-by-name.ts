import { describeOutcome } from '../describe-outcome.ts';
import { exampleCall } from '../example-call.ts';
import { callTools, type OfferedTool, type PastCall, type PlannedCall, type Rule, reply } from '../rule.ts';

/** Calls any tool with exactly the input that a person writes: `call NAME {…}`, also several in one message. */
export const callByName: Rule = {
  example: 'call refund_order {"orderId":"A-1001","amount":12000}',
  patterns: [/^call\s+\S/i],

  next({ text, calls, tools }) {
    const read = readCalls(text);
    const problem = 'problem' in read ? read.problem : unknownTool(read.calls, tools);
    if (problem !== undefined) return reply(problem, 'Nothing was called.', namesOf(tools));
    const planned = 'calls' in read ? read.calls : [];
    if (calls.length < planned.length) return callTools(planned.slice(calls.length));
    return reply(calls.map(describeCall).join('\n'));
  },
};

type ReadCalls = { readonly calls: readonly PlannedCall[] } | { readonly problem: string };

/** Reads one call after another; words between them other than `and` and `call` are a problem, as is input that is no JSON object. */
function readCalls(text: string): ReadCalls {
  const calls: PlannedCall[] = [];
  let rest = text;
  while (rest.trim() !== '') {
    const [start, name = ''] =
      /^\s*(?:(?:,|;|and\b|then\b)\s*)*(?:call\s+)?`?([\w.-]+)`?\s*/i.exec(rest) ?? [];
    if (start === undefined) return { problem: `I can't read “${rest.trim()}” as the call of a tool.` };
    rest = rest.slice(start.length);
    const json = objectAt(rest);
    // A tool without input may be called by its name alone.
    if (json === '' && !/^(?:$|,|;|and\b|then\b|call\b)/i.test(rest)) return notJson(name, rest);
    const input = parseObject(json === '' ? '{}' : json);
    if (input === undefined) return notJson(name, json);
    calls.push({ name, arguments: input });
    rest = rest.slice(json.length).replace(/^\s*`?[.\s]*$/, '');
  }
  return { calls };
}

function notJson(name: string, written: string): ReadCalls {
  return {
    problem: `The input of \`${name}\` must be one JSON object, such as {"orderId":"A-1001"}, and “${written.trim()}” is none.`,
  };
}

/** Returns the text from an opening brace to the one that closes it, or to the end; empty if there is none at the start. */
function objectAt(text: string): string {
  if (!text.startsWith('{')) return '';
  let depth = 0;
  for (const { 0: token, index } of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}]/g)) {
    if (token === '{') depth += 1;
    if (token === '}') depth -= 1;
    if (depth === 0) return text.slice(0, index + 1);
  }
  return text;
}

function parseObject(json: string): object | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function unknownTool(calls: readonly PlannedCall[], tools: readonly OfferedTool[]): string | undefined {
  const unknown = calls.find(({ name }) => !tools.some((tool) => tool.name === name));
  return unknown === undefined ? undefined : `There is no tool \`${unknown.name}\` here.`;
}

function namesOf(tools: readonly OfferedTool[]): string {
  const [first] = tools;
  if (first === undefined) return 'There is no tool that I can call.';
  return `The tools are ${tools.map(({ name }) => `\`${name}\``).join(', ')}; for example: \`${exampleCall(first)}\``;
}

/** Says what a call returned, or why it returned nothing, in one sentence. */
function describeCall({ tool, outcome }: PastCall): string {
  if (outcome.kind === 'closed') return describeOutcome(`the call of \`${tool}\``, outcome);
  const { output } = outcome;
  return `\`${tool}\` returned ${typeof output === 'string' ? `“${output}”` : JSON.stringify(output)}.`;
}
