import { useState } from 'react';
import type { TourStep } from '../../../protocol.ts';
import { act } from '../client/act.ts';
import { nameOf, useEntities, useWorkspace } from '../client/store.ts';
import { navigate, type Screen } from '../navigation/routes.ts';
import { KillButton } from './kill-button.tsx';

/** The actions of a step in order: send its prompt, then view the thread as others. */
export function StepActions({ step }: { readonly step: TourStep }) {
  const entities = useEntities();
  const { app, me } = useWorkspace();
  const [isSending, setSending] = useState(false);
  const [sentThread, setSentThread] = useState<string>();
  const thread = sentThread ?? step.thread;
  const firstName = (userId: string) => nameOf(entities, userId).split(' ')[0] ?? userId;

  const sendPrompt = async (prompt: string) => {
    setSending(true);
    const { channel } = step;
    navigate({ as: step.as, screen: { kind: 'channel', channel } });
    const answer = await act('send', { channel, text: `<@${app.botUserId}> ${prompt}` });
    setSending(false);
    if (!answer.ok || answer.ts === undefined) return;
    setSentThread(`${channel}:${answer.ts}`);
    navigate({ as: step.as, screen: { kind: 'channel', channel, threadTs: answer.ts } });
  };

  const { prompt } = step;
  return (
    <ol className="tour-actions">
      {prompt !== undefined && (
        <li>
          <blockquote className="tour-prompt">{prompt}</blockquote>
          <button
            type="button"
            className="tour-button tour-button-main"
            disabled={isSending}
            onClick={() => void sendPrompt(prompt)}
          >
            {thread === undefined ? 'Send' : 'Send again'} as {firstName(step.as)}
          </button>
        </li>
      )}
      {step.next.map(({ as, text }) => (
        <li key={`${as} ${text}`}>
          <p>
            As {firstName(as)}: {text}
          </p>
          <button
            type="button"
            className="tour-button"
            onClick={() => navigate({ as, screen: screenOf(thread, step.channel) })}
          >
            {as === me ? 'Open the thread' : `Switch to ${firstName(as)}`}
          </button>
        </li>
      ))}
      {step.offersKill && (
        <li>
          <KillButton />
        </li>
      )}
    </ol>
  );
}

/** Returns the screen of a thread id, `<channel id>:<ts>`; the channel when there is no thread yet. */
function screenOf(thread: string | undefined, channel: string): Screen {
  const [threadChannel = channel, threadTs] = thread?.split(':') ?? [];
  return threadTs === undefined
    ? { kind: 'channel', channel }
    : { kind: 'channel', channel: threadChannel, threadTs };
}
