import type { RecordedRequest } from '../../../record-protocol.ts';
import { useEntities, useNames } from '../client/store.ts';
import { RouteLink } from '../navigation/route-link.tsx';
import type { Place } from '../navigation/routes.ts';

interface CardPlacesProps {
  readonly request: RecordedRequest;
}

interface CardPlace {
  readonly id: string;
  readonly where: string;
  readonly drawn: string;
  readonly place?: Place;
}

/** Says where a request's cards stand and which revision of the record each of them shows. */
export function CardPlaces({ request }: CardPlacesProps) {
  const entities = useEntities();
  const name = useNames();
  const places = request.views.map((view): CardPlace => {
    const { id, place, stands, drawn } = view;
    const user = textIn(place, 'user');
    const channel = textIn(stands, 'channel') ?? textIn(place, 'channel');
    const ts = textIn(stands, 'ts');
    const threadTs = textIn(place, 'threadTs');
    const found = channel === undefined ? undefined : entities.get(`channel:${channel}`);
    const isOpenToMe = found?.kind === 'channel' && (user === undefined || found.members.includes(user));
    const channelName =
      found?.kind === 'channel' && found.type !== 'im' ? `#${found.name}` : 'a direct message';
    return {
      id: String(id),
      where:
        user !== undefined
          ? `direct message to ${name(user)}`
          : threadTs !== undefined
            ? 'the thread'
            : channelName,
      drawn: ts === undefined ? 'not posted yet' : `shows revision ${Number(drawn)} of ${request.revision}`,
      ...(isOpenToMe &&
        channel !== undefined &&
        ts !== undefined && {
          place: { kind: 'channel', channel, messageTs: ts, ...(threadTs !== undefined && { threadTs }) },
        }),
    };
  });
  return (
    <ul className="record-list">
      {places.map(({ id, where, drawn, place }) => (
        <li key={id}>
          {place === undefined ? where : <RouteLink route={{ place }}>{where}</RouteLink>}
          <span className="record-soft">, {drawn}</span>
        </li>
      ))}
    </ul>
  );
}

function textIn(value: unknown, field: string): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const found: unknown = Reflect.get(value, field);
  return typeof found === 'string' && found !== '' ? found : undefined;
}
