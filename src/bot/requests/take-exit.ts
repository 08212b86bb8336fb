import type { Message } from '../../agent/messages.ts';
import { settle } from '../../agent/settle.ts';
import { Transcript } from '../../agent/transcript.ts';
import { completeTask } from '../../tools/built-ins.ts';

/** Where the model has declared its task complete, takes note of it: the call is settled, and the result is told as data. */
export async function takeExit(
  messages: readonly Message[],
): Promise<{ readonly messages: readonly Message[]; readonly words: string }> {
  const exits = Transcript.of(messages).interrupts.filter((interrupt) => completeTask.matches(interrupt));
  if (exits.length === 0) return { messages, words: '' };
  const respond = exits.map((exit) => completeTask.respond(exit, { recorded: true }));
  const settled = await settle({ messages, tools: [completeTask], resume: { respond } });
  return {
    messages: settled.messages,
    words: exits.map(({ toolRequest }) => describe(toolRequest.input)).join('\n\n'),
  };
}

function describe(input: unknown): string {
  const task = completeTask.inputSchema.parse(input);
  if (!task.ok) return '';
  const { outcome, summary, result } = task.value;
  const title = { done: 'Done', 'partly-done': 'Partly done', 'not-done': 'Not done' }[outcome];
  const data = result === undefined ? '' : `\n\`\`\`\n${JSON.stringify(result, null, 2)}\n\`\`\``;
  return `**${title}.** ${summary}${data}`;
}
