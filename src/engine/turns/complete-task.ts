import type { Message } from '../../agent/messages.ts';
import { settle } from '../../agent/settle.ts';
import { Transcript } from '../../agent/transcript.ts';
import { completeTask } from '../../tools/built-ins.ts';
import type { CompletedTask } from '../ports.ts';

/** Settles the model's calls of `complete_task`, and returns the results that people are told. */
export async function settleCompletedTask(
  messages: readonly Message[],
): Promise<{ readonly messages: readonly Message[]; readonly completed: readonly CompletedTask[] }> {
  const exits = Transcript.latestRound(messages).interrupts.filter((interrupt) =>
    completeTask.matches(interrupt),
  );
  if (exits.length === 0) return { messages, completed: [] };
  const respond = exits.map((exit) => completeTask.respond(exit, { recorded: true }));
  const settled = await settle({ messages, tools: [completeTask], resume: { respond } });
  const completed = exits.flatMap(({ toolRequest }) => {
    const task = completeTask.inputSchema.parse(toolRequest.input);
    return task.ok ? [task.value] : [];
  });
  return { messages: settled.messages, completed };
}
