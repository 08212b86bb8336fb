import type { FormEvent } from 'react';
import type { History, Waiting } from '../../protocol.ts';
import { Answer, PageLink, RequestList, useLoaded } from './parts.tsx';
import { goTo, useFormOf } from './use-route.ts';

const SEARCHED = ['text', 'tool', 'person', 'state', 'since', 'until'] as const;

/** What waits for the person, and below it everything that they may look up. */
export function Inbox({ query }: { query: URLSearchParams }) {
  const from = query.get('from');
  const waiting = useLoaded<Waiting>(from === null ? 'waiting' : `waiting?from=${encodeURIComponent(from)}`);
  const asked = new URLSearchParams(
    [...SEARCHED, 'page'].flatMap((name) => {
      const value = query.get(name);
      return value === null || value === '' ? [] : [[name, value]];
    }),
  );
  const history = useLoaded<History>(`history?${asked}`);
  return (
    <>
      <h1>Inbox</h1>
      <section aria-labelledby="waiting">
        <h2 id="waiting">Waiting for you</h2>
        <Answer loaded={waiting}>
          {({ items, names, next }) => (
            <>
              {items.length === 0 && <p>You're all caught up.</p>}
              <RequestList items={items} names={names} label="Waiting for you" />
              {next !== undefined && (
                <p>
                  <PageLink to={`?from=${encodeURIComponent(next)}`}>More that waits for you</PageLink>
                </p>
              )}
            </>
          )}
        </Answer>
      </section>
      <section aria-labelledby="history">
        <h2 id="history">History</h2>
        <Search query={query} states={history.state === 'loaded' ? history.value.states : []} />
        <Answer loaded={history}>{(found) => <Found found={found} asked={asked} />}</Answer>
      </section>
    </>
  );
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
  return (
    <form className="search" onSubmit={search} ref={useFormOf(query, SEARCHED)}>
      <label>
        Title
        <input name="text" type="search" defaultValue={query.get('text') ?? ''} />
      </label>
      <label>
        Tool
        <input name="tool" defaultValue={query.get('tool') ?? ''} />
      </label>
      <label>
        Person or caller
        <input name="person" defaultValue={query.get('person') ?? ''} />
      </label>
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
      <button type="submit">Search</button>
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
      <p role="status" className="soft">
        {total === 1 ? '1 request' : `${total} requests`}
        {pages > 1 && `, page ${page} of ${pages}`}
        {unnamed > 0 && `. Slack hasn't told ${unnamed} names yet: search for these people by id, or again.`}
      </p>
      <RequestList items={items} names={names} label="History" />
      {pages > 1 && (
        <nav aria-label="Pages" className="pages">
          {page > 1 && <PageLink to={to(page - 1)}>Newer</PageLink>}
          {page < pages && <PageLink to={to(page + 1)}>Older</PageLink>}
        </nav>
      )}
    </>
  );
}
