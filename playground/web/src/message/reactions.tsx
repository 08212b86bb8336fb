import { useEffect, useRef } from 'react';
import type { MessageEntity } from '../../../protocol.ts';
import { Emoji } from '../blocks/text/inline-elements.tsx';
import { act } from '../client/act.ts';
import { nameOf, useEntities, useWorkspace } from '../client/store.ts';
import { useDismiss } from '../use-dismiss.ts';

/** The reactions to a message; a click adds or removes this person's own. */
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

const CHOICES = ['+1', '-1', 'eyes', 'white_check_mark', 'tada', 'heart', 'joy', 'thinking_face'];

/** A small set of reactions to choose from. */
export function ReactionPicker({ message, onDone }: { message: MessageEntity; onDone: () => void }) {
  const box = useRef<HTMLFieldSetElement>(null);
  useDismiss(box, true, onDone);
  useEffect(() => box.current?.querySelector('button')?.focus(), []);
  return (
    <fieldset className="reaction-picker" aria-label="Choose a reaction" ref={box}>
      {CHOICES.map((name) => (
        <button
          type="button"
          className="icon-button"
          key={name}
          aria-label={emojiLabel(name)}
          title={emojiLabel(name)}
          onClick={() => {
            void act('react', { channel: message.channel, ts: message.ts, name });
            onDone();
          }}
        >
          <Emoji name={name} />
        </button>
      ))}
    </fieldset>
  );
}

function emojiLabel(name: string): string {
  return { '+1': 'thumbs up', '-1': 'thumbs down' }[name] ?? name.replaceAll('_', ' ');
}
