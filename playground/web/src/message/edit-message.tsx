import { useEffect, useRef, useState } from 'react';
import type { MessageEntity } from '../../../protocol.ts';
import { act } from '../client/act.ts';
import { useEntities } from '../client/store.ts';
import { namesToTokens, tokensToNames } from '../composer/mention-text.ts';

/** Edits a message: Enter saves, Escape cancels. */
export function EditMessage({ message, onDone }: { message: MessageEntity; onDone: () => void }) {
  const entities = useEntities();
  const [text, setText] = useState(() => tokensToNames(entities, message.text));
  const input = useRef<HTMLTextAreaElement>(null);
  useEffect(() => input.current?.focus(), []);
  const save = async (): Promise<void> => {
    if (text.trim() === '') return;
    const { channel, ts } = message;
    const answer = await act('edit', { channel, ts, text: namesToTokens(entities, text) });
    if (answer.ok) onDone();
  };
  return (
    <form
      className="edit-message"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <textarea
        ref={input}
        aria-label="Edit message"
        value={text}
        rows={Math.min(12, text.split('\n').length)}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && !event.shiftKey && !event.nativeEvent.isComposing) {
            event.preventDefault();
            void save();
          }
          if (event.key === 'Escape') {
            event.preventDefault();
            onDone();
          }
        }}
      />
      <div className="edit-message-buttons">
        <button type="button" className="text-button" onClick={onDone}>
          Cancel
        </button>
        <button type="submit" className="text-button text-button-good" disabled={text.trim() === ''}>
          Save
        </button>
      </div>
    </form>
  );
}
