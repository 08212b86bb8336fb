import type { ActionName, ActionResult, Actions } from '../../../protocol.ts';
import type { ThreadRecord } from '../../../record-protocol.ts';
import { readRoute } from '../navigation/routes.ts';
import { showToast } from '../toasts/toasts.tsx';
import { whenConnectedAs } from './connection.ts';

const SERVER_GONE = 'The playground is not responding. Is it still running in your terminal?';

/** Performs an action as the current person once their client is connected; a refusal is also shown as a toast. */
export async function act<V extends ActionName>(name: V, body: Actions[V]): Promise<ActionResult> {
  const userId = readRoute().as;
  await whenConnectedAs(userId);
  const answer = await post(`/client/${userId}/${name}`, body);
  if (!answer.ok) showToast(answer.error);
  return answer;
}

/** Presses a button that is not Slack's: kills the bot's process, starts the job of the terminal, or sends it Ctrl-C. */
export async function press(button: 'kill' | 'start-job' | 'interrupt-job'): Promise<void> {
  const answer = await post(`/playground/${button}`, {});
  if (!answer.ok) showToast(answer.error);
}

/** Loads the record of a thread; undefined when there is none or it cannot be read. */
export async function fetchRecord(threadId: string): Promise<ThreadRecord | undefined> {
  try {
    const response = await fetch(`/record/${encodeURI(threadId)}`);
    return response.status === 200 ? ((await response.json()) as ThreadRecord) : undefined;
  } catch {
    return undefined;
  }
}

async function post(path: string, body: object): Promise<ActionResult> {
  try {
    const response = await fetch(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    if (text === '' && response.ok) return { ok: true };
    return JSON.parse(text) as ActionResult;
  } catch {
    return { ok: false, error: SERVER_GONE };
  }
}
