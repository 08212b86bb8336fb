import { toJson } from '../../agent/json.ts';
import type { Interrupt, Message } from '../../agent/messages.ts';
import { buildRestart, type RestartReply } from '../../agent/replies.ts';
import { type SettleOptions, settle } from '../../agent/settle.ts';
import type { Tool } from '../../agent/tool.ts';
import { Transcript } from '../../agent/transcript.ts';
import { approverOf, type GateResumed } from '../../tools/gate/gate.ts';
import { SERVER_PAUSE, taskOf } from '../../tools/mcp/server-pause.ts';

/**
 * Follows the tasks that servers run for the calls of a thread, to their ends. Each task is on record by then: in the messages, or in
 * the journal with the pause of its call.
 */
export async function followTasks(
  messages: readonly Message[],
  options: Omit<SettleOptions<readonly Tool[]>, 'messages' | 'resume'>,
): Promise<readonly Message[]> {
  let settled = messages;
  // A task whose questions nobody has to answer is followed on.
  for (;;) {
    const restart = repliesFor(settled, options.tools);
    if (restart.length === 0) return settled;
    ({ messages: settled } = await settle({ ...options, messages: settled, resume: { restart } }));
  }
}

function repliesFor(messages: readonly Message[], tools: readonly Tool[]): RestartReply[] {
  const { interrupts } = Transcript.latestRound(messages, { mayBeOpen: true });
  return interrupts.flatMap((interrupt: Interrupt) => {
    const pause = taskOf(interrupt);
    const tool = tools.find(({ name }) => name === interrupt.toolRequest.name);
    if (pause === undefined || tool?.kind !== 'tool') return [];
    const resumed: GateResumed = { decision: 'answered', approvedBy: approverOf(interrupt) };
    const metadata = { ...resumed, [SERVER_PAUSE]: toJson({ pause, end: { action: 'accept' } }) };
    return [buildRestart(tool, interrupt, metadata, {})];
  });
}
