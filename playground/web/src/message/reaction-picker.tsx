import { useEffect, useRef } from 'react';
import type { MessageEntity } from '../../../protocol.ts';
import { act } from '../act.ts';
import { Emoji } from '../blocks/blocks.tsx';
import { useLeaving } from '../use-leaving.ts';

const CHOICES = ['+1', '-1', 'eyes', 'white_check_mark', 'tada', 'heart', 'joy', 'thinking_face'];

/** A small set of reactions to choose from. */
export function ReactionPicker({ message, onDone }: { message: MessageEntity; onDone: () => void }) {
  const box = useRef<HTMLFieldSetElement>(null);
  useLeaving(box, true, onDone);
  useEffect(() => box.current?.querySelector('button')?.focus(), []);
  return (
    <fieldset className="reaction-picker" aria-label="Choose a reaction" ref={box}>
      {CHOICES.map((name) => (
        <button
          type="button"
          className="icon-button"
          key={name}
          aria-label={spell(name)}
          title={spell(name)}
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

function spell(name: string): string {
  return { '+1': 'thumbs up', '-1': 'thumbs down' }[name] ?? name.replaceAll('_', ' ');
}
