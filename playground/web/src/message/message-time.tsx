import type { MessageEntity } from '../../../protocol.ts';
import { RouteLink } from '../route-link.tsx';
import { placeOfMessage } from './place-of-message.ts';
import { momentOf, spellFully, spellTime } from './spell-moment.ts';

/** When a message was said, as a link to it; one that only this person sees has no link. */
export function MessageTime({ message, isShort = false }: { message: MessageEntity; isShort?: boolean }) {
  const moment = momentOf(message.ts);
  const time = (
    <time dateTime={moment.toISOString()} title={spellFully(moment)}>
      {isShort ? spellTime(moment).split(' ')[0] : spellTime(moment)}
    </time>
  );
  if (message.isEphemeral) return <span className="message-time">{time}</span>;
  return (
    <RouteLink className="message-time" route={{ place: placeOfMessage(message) }} tabIndex={-1}>
      {time}
    </RouteLink>
  );
}
