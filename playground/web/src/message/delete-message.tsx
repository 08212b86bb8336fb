import { useEffect, useId, useRef } from 'react';
import type { MessageEntity } from '../../../protocol.ts';
import { act } from '../act.ts';

/** Asks once more before a message is gone. */
export function DeleteMessage({ message, onDone }: { message: MessageEntity; onDone: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog className="delete-message" ref={dialog} aria-labelledby={titleId} onClose={onDone}>
      <h2 id={titleId}>Delete message</h2>
      <p>Do you want to delete this message? This cannot be undone.</p>
      <div className="delete-message-buttons">
        <button type="button" className="text-button" onClick={() => dialog.current?.close()}>
          Cancel
        </button>
        <button
          type="button"
          className="text-button text-button-bad"
          onClick={() => {
            void act('delete', { channel: message.channel, ts: message.ts });
            dialog.current?.close();
          }}
        >
          Delete
        </button>
      </div>
    </dialog>
  );
}
