import { toJson } from '../../agent/json.ts';
import type { Message } from '../../agent/messages.ts';
import { settle } from '../../agent/settle.ts';
import { Transcript } from '../../agent/transcript.ts';
import { completeTask } from '../../tools/built-ins.ts';
import { plainValue } from '../views/cards/render-value.ts';
import { replyTexts } from '../views/texts/replies.ts';

/** Settles the model's calls of `complete_task`, and returns the text that tells people the result. */
export async function settleCompletedTask(
  messages: readonly Message[],
): Promise<{ readonly messages: readonly Message[]; readonly text: string }> {
  const exits = Transcript.latestRound(messages).interrupts.filter((interrupt) =>
    completeTask.matches(interrupt),
  );
  if (exits.length === 0) return { messages, text: '' };
  const respond = exits.map((exit) => completeTask.respond(exit, { recorded: true }));
  const settled = await settle({ messages, tools: [completeTask], resume: { respond } });
  return {
    messages: settled.messages,
    text: exits.map(({ toolRequest }) => describe(toolRequest.input)).join('\n\n'),
  };
}

function describe(input: unknown): string {
  const task = completeTask.inputSchema.parse(input);
  if (!task.ok) return '';
  const { outcome, summary, result } = task.value;
  const title = replyTexts.outcomes[outcome];
  const data = result === undefined ? '' : `\n\`\`\`\n${plainValue(toJson(result))}\n\`\`\``;
  return `**${title}.** ${summary}${data}`;
}
