import type { ListItem, Names } from '../../protocol.ts';
import { Avatar, PageLink, People, Pill, State } from './parts.tsx';
import { Ago } from './times.tsx';

interface ListOptions {
  readonly items: readonly ListItem[];
  readonly names: Names;
  readonly label: string;
}

/** A list of requests; each leads to its own address. */
export function RequestList({ items, names, label }: ListOptions) {
  if (items.length === 0) return null;
  return (
    <ul className="requests" aria-label={label}>
      {items.map((item) => (
        <li key={item.id}>
          <div className="row-head">
            <h3>
              <PageLink to={`requests/${encodeURIComponent(item.id)}`}>
                <span className="untrusted">{item.title}</span>
              </PageLink>
            </h3>
            <Pills item={item} />
          </div>
          <p className="soft">
            <About item={item} names={names} />
          </p>
        </li>
      ))}
    </ul>
  );
}

function Pills({ item: { state, word, isHighRisk, approvals } }: { item: ListItem }) {
  const isCounted = state === 'pending' && approvals !== undefined && approvals.needed > 1;
  return (
    <span className="pills">
      {isHighRisk === true && <Pill tone="bad">High risk</Pill>}
      {isCounted ? (
        <Pill tone="open">
          {approvals.given} of {approvals.needed} approvals
        </Pill>
      ) : (
        <State state={state} word={word} />
      )}
    </span>
  );
}

function About({ item, names }: { item: ListItem; names: Names }) {
  const { requesters, channel, state, expiresAt, askedAt, decidedAt, endedAt } = item;
  const isOpen = state === 'pending';
  const [first = ''] = requesters;
  return (
    <>
      {first !== '' && <Avatar id={first} names={names} />} <People ids={requesters} names={names} />
      {channel !== undefined && Object.hasOwn(names, channel) && ` in ${names[channel]}`}
      {votesIn(item).map(([words, ids]) => (
        <span key={words}>
          {' · '}
          {isOpen ? (
            <>
              <People ids={ids} names={names} /> {words}
            </>
          ) : (
            <>
              {words} by <People ids={ids} names={names} />
            </>
          )}
        </span>
      ))}
      {' · '}
      <Ago at={(isOpen ? undefined : (endedAt ?? decidedAt)) ?? askedAt} />
      {isOpen && expiresAt !== undefined && (
        <>
          {' · expires '}
          <Ago at={expiresAt} />
        </>
      )}
    </>
  );
}

const VOTED: Readonly<Record<string, string>> = {
  approve: 'approved',
  reject: 'rejected',
  answer: 'answered',
};

/** Lists what people did, with those who did it. Who changed their mind counts by the last word. */
function votesIn({ votes }: ListItem): [string, string[]][] {
  const said = new Map<string, string>();
  for (const { who, decision } of votes) said.set(who, VOTED[decision] ?? 'outcome confirmed');
  const groups = new Map<string, string[]>();
  for (const [who, words] of said) groups.set(words, [...(groups.get(words) ?? []), who]);
  return [...groups];
}
