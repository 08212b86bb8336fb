import { toJson } from '../../agent/json.ts';
import type { Interrupt } from '../../agent/messages.ts';
import { buildRestart, closeInterrupt, type Resume } from '../../agent/replies.ts';
import type { Tool } from '../../agent/tool.ts';
import type { Settlement } from '../../store/port/store.ts';
import { approverOf, type GateResumed } from '../../tools/gate.ts';
import {
  type Elicitation,
  type PauseEnd,
  parseAnswerValue,
  SERVER_PAUSE,
} from '../../tools/mcp/server-pause.ts';

/**
 * Turns the end of a server's question into the reply to the call that waits for it. The call continues with the response, on the
 * approval that it was started with. A call of an older server that nobody answered ends here, since its server was told so at once.
 */
export function replyToServer(
  { state, payload }: Settlement,
  interrupt: Interrupt,
  tool: Tool,
  pause: Elicitation,
): Resume | undefined {
  const end = endOf(state, payload);
  if (end === undefined) return undefined;
  const { call } = pause;
  if (call.protocol === 'older' && (end.action === 'withdrawn' || end.action === 'expired')) {
    const said = call.ending === '' ? '' : ` The server said: ${call.ending}`;
    const reason = `${ENDINGS[end.action]} The server was told that it is cancelled.${said}`;
    return { close: [closeInterrupt(interrupt, end.action, reason)] };
  }
  const resumed: GateResumed = { decision: 'answered', approvedBy: approverOf(interrupt) };
  const metadata = { ...resumed, [SERVER_PAUSE]: toJson({ pause, end }) };
  return { restart: [buildRestart(tool, interrupt, metadata, {})] };
}

const ENDINGS = {
  withdrawn: "The server's question was withdrawn.",
  expired: "Nobody answered the server's question in time.",
};

function endOf(state: Settlement['state'], payload: string): PauseEnd | undefined {
  if (state === 'answered') return parseAnswerValue(payload);
  return state === 'withdrawn' || state === 'expired' ? { action: state } : undefined;
}
