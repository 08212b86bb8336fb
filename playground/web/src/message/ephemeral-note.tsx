import type { MessageEntity } from '../../../protocol.ts';
import { act } from '../act.ts';

/** Says that nobody else sees a message, and takes it away. */
export function EphemeralNote({ message: { channel, ts } }: { message: MessageEntity }) {
  return (
    <p className="ephemeral-note">
      Only visible to you
      <button type="button" onClick={() => void act('dismiss', { channel, ts })}>
        Dismiss message
      </button>
    </p>
  );
}
