import { act } from '../act.ts';
import { useEntities, useWorkspace } from '../store.ts';
import { showToast } from '../toasts/toasts.ts';
import { namesToTokens } from './mention-text.ts';

/** Says what was typed, or gives a command of the app; resolves to whether it was taken. */
export function useSend(channel: string, threadTs: string | undefined): (typed: string) => Promise<boolean> {
  const entities = useEntities();
  const { app } = useWorkspace();
  return async (typed) => {
    const text = namesToTokens(entities, typed.trim());
    if (!typed.startsWith('/')) {
      const answer = await act('say', { channel, text, ...(threadTs !== undefined && { threadTs }) });
      return answer.ok;
    }
    const [command = '', ...rest] = text.split(' ');
    if (!app.commands.includes(command)) {
      showToast(`${command} is not a command here. Begin with a space to say it as a message.`);
      return false;
    }
    if (threadTs !== undefined) {
      showToast(`${command} works in the channel, not in a thread.`);
      return false;
    }
    const answer = await act('command', { command, text: rest.join(' '), channel });
    return answer.ok;
  };
}
