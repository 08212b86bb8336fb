import { useId, useState } from 'react';
import { CHANNELS } from '../../../slack/default-cast.ts';
import { act } from '../client/act.ts';
import { nameOf, useEntities, usePeople, usePlayground, useWorkspace } from '../client/store.ts';
import { navigate } from '../navigation/routes.ts';
import './tour.css';

/** The tools of a manifest of one's own, each with a message that calls it, and the people whom the manifest can name. */
export function ToolsPanel({ calls }: { readonly calls: readonly string[] }) {
  const { model } = usePlayground();
  const people = usePeople();
  return (
    <section className="tour" aria-label="Tools">
      <h2 className="tour-title">Try your tools</h2>
      <p>
        Mention the bot and write <code>call</code>, a tool's name and its input as JSON, one call per line.{' '}
        {model.isScripted
          ? 'The scripted model calls exactly that and says what came back. Everything else is the real bot.'
          : `Replies come from ${model.name}.`}
      </p>
      {calls.length === 0 && <p>This manifest has no tool that could be loaded.</p>}
      {calls.map((call) => (
        <CallForm key={call} call={call} />
      ))}
      <h3>People</h3>
      <p>Switch between them at the top left. The manifest names them by these ids.</p>
      <ul className="tour-people">
        {people.map(({ id, realName, about }) => (
          <li key={id}>
            {realName}: {about === '' ? id : about}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** A message that can be changed before it is sent as the person of this window. */
function CallForm({ call }: { readonly call: string }) {
  const { app, me } = useWorkspace();
  const entities = useEntities();
  const [text, setText] = useState(call);
  const [isSending, setSending] = useState(false);
  const id = useId();
  const send = async (): Promise<void> => {
    setSending(true);
    const channel = CHANNELS.general;
    const answer = await act('send', { channel, text: `<@${app.botUserId}> ${text}` });
    setSending(false);
    if (answer.ok && answer.ts !== undefined)
      navigate({ screen: { kind: 'channel', channel, threadTs: answer.ts } });
  };
  return (
    <form
      className="tour-call"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <label htmlFor={id}>{call.split(' ')[1]}</label>
      <textarea id={id} rows={3} value={text} onChange={(event) => setText(event.target.value)} />
      <button type="submit" className="tour-button" disabled={isSending || text.trim() === ''}>
        Send as {nameOf(entities, me)}
      </button>
    </form>
  );
}
