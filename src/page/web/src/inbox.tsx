import type { FormEvent } from 'react';
import type { History, Waiting } from '../../protocol.ts';
import { Answer, Box, PageLink, PersonField, Updated, useLoaded } from './parts.tsx';
import { RequestList } from './request-list.tsx';
import { dayStart, TIME_ZONE } from './times.tsx';
import { goTo, useFormOf } from './use-route.ts';

const SEARCHED = ['text', 'tool', 'person', 'state', 'since', 'until'] as const;
/** The fields that are folded until somebody uses one. */
const MORE = SEARCHED.slice(1);

/** What waits for the person, and below it everything that they may look up. */
export function Inbox({ query }: { query: URLSearchParams }) {
  const from = query.get('from');
  const waiting = useLoaded<Waiting>(from === null ? 'waiting' : `waiting?from=${encodeURIComponent(from)}`, {
    isLive: true,
  });
  const asked = searchIn(query);
  const history = useLoaded<History>(`history?${inTimeZone(asked)}`, { isLive: true });
  return (
    <>
      <h1>Inbox</h1>
      <Box title="Waiting for you" beside={<Updated loaded={waiting} />}>
        <Answer loaded={waiting}>
          {({ items, names, next }) => (
            <>
              {items.length === 0 && <p className="inset soft">You're all caught up.</p>}
              <RequestList items={items} names={names} label="Waiting for you" />
              {next !== undefined && (
                <p className="inset">
                  <PageLink to={`?from=${encodeURIComponent(next)}`}>More that waits for you</PageLink>
                </p>
              )}
            </>
          )}
        </Answer>
      </Box>
      <Box title="History" beside={<span className="soft">all times in {TIME_ZONE}</span>}>
        <Search query={query} states={history.state === 'loaded' ? history.value.states : []} />
        <Answer loaded={history}>{(found) => <Found found={found} asked={asked} />}</Answer>
      </Box>
    </>
  );
}

function searchIn(query: URLSearchParams): URLSearchParams {
  return new URLSearchParams(
    [...SEARCHED, 'page'].flatMap((name) => {
      const value = query.get(name);
      return value === null || value === '' ? [] : [[name, value]];
    }),
  );
}

/** The days of a search are those of the reader. */
function inTimeZone(search: URLSearchParams): URLSearchParams {
  const sent = new URLSearchParams(search);
  for (const [name, plus] of [
    ['since', 0],
    ['until', 1],
  ] as const) {
    const at = dayStart(search.get(name) ?? '', plus);
    if (at === undefined) sent.delete(name);
    else sent.set(name, String(at));
  }
  return sent;
}

function Search({ query, states }: { query: URLSearchParams; states: History['states'] }) {
  const search = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const data = new FormData(event.currentTarget);
    const given = SEARCHED.flatMap((name) => {
      const value = data.get(name);
      return typeof value === 'string' && value !== '' ? [[name, value]] : [];
    });
    const asked = new URLSearchParams(given).toString();
    goTo(asked === '' ? '' : `?${asked}`);
  };
  const chosen = query.get('state') ?? '';
  const all =
    chosen === '' || states.some(({ state }) => state === chosen)
      ? states
      : [...states, { state: chosen, word: chosen }];
  const hasMore = MORE.some((name) => (query.get(name) ?? '') !== '');
  return (
    <form className="search" onSubmit={search} ref={useFormOf(query, SEARCHED)}>
      <div className="search-main">
        <label>
          Title
          <input name="text" type="search" defaultValue={query.get('text') ?? ''} />
        </label>
        <button type="submit">Search</button>
      </div>
      <details open={hasMore}>
        <summary>More filters</summary>
        <div className="search-more">
          <label>
            Tool
            <input name="tool" defaultValue={query.get('tool') ?? ''} />
          </label>
          <PersonField label="Person or caller" name="person" value={query.get('person') ?? ''} />
          <label>
            State
            <select name="state" defaultValue={chosen} key={all.length}>
              <option value="">Any</option>
              {all.map(({ state, word }) => (
                <option key={state} value={state}>
                  {word}
                </option>
              ))}
            </select>
          </label>
          <label>
            From
            <input name="since" type="date" defaultValue={query.get('since') ?? ''} />
          </label>
          <label>
            To
            <input name="until" type="date" defaultValue={query.get('until') ?? ''} />
          </label>
        </div>
      </details>
    </form>
  );
}

function Found({ found, asked }: { found: History; asked: URLSearchParams }) {
  const { items, names, total, page, pages, unnamed } = found;
  const to = (number: number) => {
    const next = new URLSearchParams(asked);
    next.set('page', String(number));
    return `?${next}`;
  };
  return (
    <>
      <p role="status" className="soft inset">
        {total === 1 ? '1 request' : `${total} requests`}
        {pages > 1 && `, page ${page} of ${pages}`}
        {unnamed > 0 && `. Slack hasn't told ${unnamed} names yet: search for these people by id, or again.`}
      </p>
      <RequestList items={items} names={names} label="History" />
      {pages > 1 && (
        <nav aria-label="Pages" className="pages inset">
          {page > 1 && <PageLink to={to(page - 1)}>Newer</PageLink>}
          {page < pages && <PageLink to={to(page + 1)}>Older</PageLink>}
        </nav>
      )}
    </>
  );
}
