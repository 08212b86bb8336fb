import type { ModelReply, ReplyFunction } from '../model/model-reply.ts';
import { listCalls } from './example-call.ts';
import { type Conversation, type Exchange, type Material, readConversation } from './read-conversation.ts';
import { type NextStep, type OfferedTool, type Rule, reply } from './rule.ts';
import { callByName } from './rules/call-by-name.ts';
import { EXAMPLE_RULES, RULES } from './rules.ts';

/** Delay between two chunks of text, so that streaming is visible. */
const TEXT_DELAY_MS = 40;
const ARGUMENTS_DELAY_MS = 5;
const WORDS_PER_CHUNK = 2;
/** The most that is repeated of a quoted message or a file. */
const LONGEST_QUOTE = 300;

/** Answers by fixed rules: the first rule that matches the last message decides the next step. */
export const answerByScript: ReplyFunction = (request) => toReply(nextStep(readConversation(request)));

function nextStep(conversation: Conversation): NextStep {
  const { exchanges, tools } = conversation;
  const [earlier, current] = [exchanges.at(-2), exchanges.at(-1)];
  if (current === undefined) return describeCapabilities(tools);
  const step = applyRule(current, conversation);
  const isOffered = (name: string) => tools.some((tool) => tool.name === name);
  const missing = step.kind === 'call' ? step.calls.find(({ name }) => !isOffered(name)) : undefined;
  if (missing !== undefined)
    return reply(
      `I'd need the tool \`${missing.name}\`, which isn't available here. Nothing was done.`,
      listCalls(tools),
    );
  if (current.calls.length > 0) return step;
  const before = describeEarlier(earlier, conversation);
  return before === '' ? step : { ...step, text: `${before}\n\n${step.text}` };
}

/** Applies the rule for the newest message that has one; a later message without a rule adds to it. */
function applyRule(exchange: Exchange, { exchanges, system, tools }: Conversation): NextStep {
  const { messages, material, calls } = exchange;
  const start = messages.findLastIndex((message) => findRule(message) !== undefined);
  const rule = findRule(messages[start] ?? '');
  if (rule === undefined)
    return material.length === 0 ? describeCapabilities(tools) : describeMaterial(material);
  const earlier = exchanges.slice(0, exchanges.indexOf(exchange));
  const context = [...earlier.flatMap(textsOf), ...textsOf({ messages: messages.slice(0, start), material })]
    .toReversed()
    .join('\n');
  return rule.next({
    text: messages.slice(start).join(' '),
    context,
    calls,
    tools,
    approvalNote: (tool) => approvalNote(tool, system),
  });
}

function textsOf({ messages, material }: Pick<Exchange, 'messages' | 'material'>): readonly string[] {
  return [...messages, ...material.map(({ text }) => text)];
}

/** Repeats what came with a message for which there is no rule, so that people see what the model was given. */
function describeMaterial(material: readonly Material[]): NextStep {
  const shown = material.map(({ label, text }) => `- ${label}: ${text.slice(0, LONGEST_QUOTE)}`);
  return reply(
    `This is what I was given:\n${shown.join('\n')}\n\nTell me what to do with it, such as: refund 120 dollars of that order.`,
  );
}

function findRule(text: string): Rule | undefined {
  return RULES.find(({ patterns }) => patterns.some((pattern) => pattern.test(text)));
}

/** Reports the result of the earlier request when a new message arrived before the model could. */
function describeEarlier(earlier: Exchange | undefined, conversation: Conversation): string {
  const last = earlier?.calls.at(-1);
  // With complete_task the bot itself has reported the result.
  if (earlier === undefined || earlier.isAnswered || last === undefined || last.tool === 'complete_task')
    return '';
  const step = applyRule(earlier, conversation);
  return step.kind === 'reply'
    ? step.text
    : `I stopped working on “${earlier.messages.at(-1)}”. Send it again if you still want it.`;
}

/**
 * Reads from the system prompt, which has one line per tool, how many approvals every call of a tool needs. A rule with a
 * condition says nothing about this call, so it gives no note.
 */
function approvalNote(tool: string, system: string): string {
  const line = system.split('\n').find((candidate) => candidate.startsWith(`- ${tool}: `)) ?? '';
  const [, count] = /: needs (an?|\d+) (?:signature|approval)s?\b/.exec(line) ?? [];
  if (count === undefined || line.includes(' when ')) return '';
  return /\d/.test(count) ? `This needs ${count} approvals.` : 'This needs an approval.';
}

function describeCapabilities(tools: readonly OfferedTool[]): NextStep {
  const isOffered = (rule: Rule) => tools.some(({ name }) => name === rule.tool);
  const examples = EXAMPLE_RULES.filter(isOffered).map(({ example }) => `- ${example}\n`);
  const understood =
    examples.length === 0
      ? listCalls(tools)
      : `I understand messages like these:\n${examples.join('')}- \`${callByName.example}\`, and so any tool`;
  return reply(
    `I'm a scripted model with fixed rules, not an AI, and I have no rule for that. ${understood}\n\n` +
      'To use a real model, set OPENAI_API_KEY and restart the playground.',
  );
}

function toReply(step: NextStep): ModelReply {
  const text = splitText(step.text);
  if (step.kind === 'reply') return { text, delayMs: TEXT_DELAY_MS };
  const delayMs = text.length === 0 ? ARGUMENTS_DELAY_MS : TEXT_DELAY_MS;
  return { ...(text.length > 0 && { text }), calls: step.calls, delayMs };
}

function splitText(text: string): readonly string[] {
  const words = text.match(/\s*\S+\s*/g) ?? [];
  return words.flatMap((_, index) =>
    index % WORDS_PER_CHUNK === 0 ? [words.slice(index, index + WORDS_PER_CHUNK).join('')] : [],
  );
}
