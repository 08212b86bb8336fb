import type { MouseEvent } from 'react';
import { useEntity, usePerson, useWorkspace } from '../../client/store.ts';
import { hrefOf, navigate } from '../../navigation/routes.ts';
import { emojiOf } from './emoji-names.ts';

/** A person's name, highlighted when it is the current person. */
export function UserMention({ id }: { readonly id: string }) {
  const person = usePerson(id);
  const { me } = useWorkspace();
  return <Mention name={person?.realName || person?.name || id} isMe={id === me} />;
}

/** A user group's handle, highlighted when the current person is in it. */
export function GroupMention({ id }: { readonly id: string }) {
  const group = useEntity<'group'>(`group:${id}`);
  const { me } = useWorkspace();
  return <Mention name={group?.handle ?? id} isMe={group?.users.includes(me) === true} />;
}

/** `@here`, `@channel` or `@everyone`. */
export function BroadcastMention({ range }: { readonly range: string }) {
  return <Mention name={range} isMe />;
}

/** A channel, as a link when the person can see it. */
export function ChannelMention({ id, name }: { readonly id: string; readonly name?: string }) {
  const channel = useEntity<'channel'>(`channel:${id}`);
  if (channel === undefined) return <span className="prose-mention">{`#${name ?? id}`}</span>;
  const screen = { kind: 'channel', channel: id } as const;
  const follow = (event: MouseEvent) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    navigate({ screen });
  };
  return (
    <a className="prose-mention" href={hrefOf({ screen })} onClick={follow}>
      {`#${channel.name}`}
    </a>
  );
}

function Mention({ name, isMe }: { readonly name: string; readonly isMe: boolean }) {
  return <span className={isMe ? 'prose-mention prose-mention-me' : 'prose-mention'}>{`@${name}`}</span>;
}

/** One emoji by its Slack name; an unknown name is shown between colons. */
export function Emoji({ name, unicode }: { readonly name: string; readonly unicode?: string }) {
  const drawn = unicode ?? emojiOf(name);
  if (drawn === undefined) return <span className="prose-emoji-name">{`:${name}:`}</span>;
  return (
    <span className="prose-emoji" role="img" aria-label={name.replaceAll('_', ' ')} title={`:${name}:`}>
      {drawn}
    </span>
  );
}
