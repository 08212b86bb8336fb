import type { MessageEntity } from '../../../protocol.ts';
import { act } from '../act.ts';
import { Emoji } from '../blocks/blocks.tsx';
import { nameOf, useEntities, useWorkspace } from '../store.ts';

/** The reactions to a message; a click adds this person's own or takes it back. */
export function Reactions({ message: { channel, ts, reactions } }: { message: MessageEntity }) {
  const entities = useEntities();
  const { me } = useWorkspace();
  return (
    <ul className="reactions" aria-label="Reactions">
      {reactions.map(({ name, users }) => {
        const isMine = users.includes(me);
        const who = users.map((user) => nameOf(entities, user)).join(', ');
        return (
          <li key={name}>
            <button
              type="button"
              className="reaction"
              aria-pressed={isMine}
              aria-label={`${name.replaceAll('_', ' ')}, ${users.length}: ${who}`}
              title={who}
              onClick={() => void act(isMine ? 'unreact' : 'react', { channel, ts, name })}
            >
              <Emoji name={name} /> {users.length}
            </button>
          </li>
        );
      })}
    </ul>
  );
}
