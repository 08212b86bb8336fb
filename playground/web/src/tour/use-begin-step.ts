import { useState } from 'react';
import type { TourStep } from '../../../protocol.ts';
import { act } from '../client/act.ts';
import { useWorkspace } from '../client/store.ts';
import { navigate, type Screen } from '../navigation/routes.ts';

/** Sends the prompt of a step; then an act is seen as the person who decides, and another step as the one who asked. */
export function useBeginStep(): { readonly isSending: boolean; begin(step: TourStep): Promise<void> } {
  const { app } = useWorkspace();
  const [isSending, setSending] = useState(false);
  return {
    isSending,
    async begin({ as, channel, prompt, isAct, next }) {
      setSending(true);
      navigate({ as, screen: { kind: 'channel', channel } });
      const answer = await act('send', { channel, text: `<@${app.botUserId}> ${prompt}` });
      setSending(false);
      if (!answer.ok || answer.ts === undefined) return;
      const viewer = isAct ? (next[0]?.as ?? as) : as;
      navigate({ as: viewer, screen: { kind: 'channel', channel, threadTs: answer.ts } });
    },
  };
}

/** Returns the screen of a thread id, `<channel id>:<ts>`; the channel when there is no thread yet. */
export function screenOfThread(thread: string | undefined, channel: string): Screen {
  const [threadChannel = channel, threadTs] = thread?.split(':') ?? [];
  return threadTs === undefined
    ? { kind: 'channel', channel }
    : { kind: 'channel', channel: threadChannel, threadTs };
}

/** Returns the id of the thread that a screen shows. */
export function threadOfScreen(screen: Screen): string | undefined {
  return screen.kind === 'channel' && screen.threadTs !== undefined
    ? `${screen.channel}:${screen.threadTs}`
    : undefined;
}
