import type { RecordedRequest } from '../../../record-protocol.ts';
import { useEntities, useNames } from '../client/store.ts';
import { RouteLink } from '../navigation/route-link.tsx';
import type { Screen } from '../navigation/routes.ts';

interface CardLocationsProps {
  readonly request: RecordedRequest;
}

interface CardLocation {
  readonly id: string;
  readonly label: string;
  readonly revision: string;
  readonly screen?: Screen;
}

/** Lists the locations of a request's cards and the revision that each shows. */
export function CardLocations({ request }: CardLocationsProps) {
  const entities = useEntities();
  const name = useNames();
  const locations = request.views.map((view): CardLocation => {
    const { id, place, postedAt, drawn } = view;
    const user = textIn(place, 'user');
    const channel = textIn(postedAt, 'channel') ?? textIn(place, 'channel');
    const ts = textIn(postedAt, 'ts');
    const threadTs = textIn(place, 'threadTs');
    const found = channel === undefined ? undefined : entities.get(`channel:${channel}`);
    const isOpenToMe = found?.kind === 'channel' && (user === undefined || found.members.includes(user));
    const channelName =
      found?.kind === 'channel' && found.type !== 'im' && found.type !== 'mpim'
        ? `#${found.name}`
        : 'a direct message';
    return {
      id,
      label:
        user !== undefined
          ? `direct message to ${name(user)}`
          : threadTs !== undefined
            ? 'the thread'
            : channelName,
      revision: ts === undefined ? 'not posted yet' : `shows revision ${drawn} of ${request.revision}`,
      ...(isOpenToMe &&
        channel !== undefined &&
        ts !== undefined && {
          screen: { kind: 'channel', channel, messageTs: ts, ...(threadTs !== undefined && { threadTs }) },
        }),
    };
  });
  return (
    <ul className="record-list">
      {locations.map(({ id, label, revision, screen }) => (
        <li key={id}>
          {screen === undefined ? label : <RouteLink route={{ screen }}>{label}</RouteLink>}
          <span className="record-soft">, {revision}</span>
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
