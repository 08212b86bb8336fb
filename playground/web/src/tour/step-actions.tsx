import { useState } from 'react';
import type { TourStep } from '../../../protocol.ts';
import { act } from '../client/act.ts';
import { nameOf, useEntities, useWorkspace } from '../client/store.ts';
import { go, type Place } from '../navigation/routes.ts';
import { KillButton } from './kill-button.tsx';

/** What to do for a step, in order: to say its prompt, then to look at the thread as others. */
export function StepActions({ step }: { readonly step: TourStep }) {
  const entities = useEntities();
  const { app } = useWorkspace();
  const [isSending, setSending] = useState(false);
  const [saidThread, setSaidThread] = useState<string>();
  const thread = saidThread ?? step.thread;
  const firstName = (userId: string) => nameOf(entities, userId).split(' ')[0] ?? userId;

  const sayPrompt = async (prompt: string) => {
    setSending(true);
    const { channel } = step;
    go({ as: step.as, place: { kind: 'channel', channel } });
    const answer = await act('say', { channel, text: `<@${app.botUserId}> ${prompt}` });
    setSending(false);
    if (!answer.ok || answer.ts === undefined) return;
    setSaidThread(`${channel}:${answer.ts}`);
    go({ as: step.as, place: { kind: 'channel', channel, threadTs: answer.ts } });
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
            onClick={() => void sayPrompt(prompt)}
          >
            {thread === undefined ? 'Say it' : 'Say it again'} as {firstName(step.as)}
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
            onClick={() => go({ as, place: placeOf(thread, step.channel) })}
          >
            Look as {firstName(as)}
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

/** A thread id is `<channel id>:<ts>`; before anything was said there is only the channel. */
function placeOf(thread: string | undefined, channel: string): Place {
  const [threadChannel = channel, threadTs] = thread?.split(':') ?? [];
  return threadTs === undefined
    ? { kind: 'channel', channel }
    : { kind: 'channel', channel: threadChannel, threadTs };
}
