import { type MouseEvent, type ReactNode, useEffect, useState } from 'react';
import { showLine } from '../../../bot/views/texts/show-text.ts';
import { namedParts } from '../../names.ts';
import type { Fact, ListItem, Names } from '../../protocol.ts';
import { ask, type Loaded } from './api.ts';
import { goTo } from './use-route.ts';

/** Loads an answer of the server, and again when its address changes. */
export function useLoaded<Value>(path: string): Loaded<Value> {
  const [loaded, setLoaded] = useState<Loaded<Value>>({ state: 'loading' });
  useEffect(() => {
    let isOver = false;
    setLoaded({ state: 'loading' });
    void ask<Value>(path).then((answer) => {
      if (!isOver) setLoaded(answer);
    });
    return () => {
      isOver = true;
    };
  }, [path]);
  return loaded;
}

/** Shows an answer, or that it is on its way, or why there is none. */
export function Answer<Value>({
  loaded,
  children,
}: {
  loaded: Loaded<Value>;
  children: (value: Value) => ReactNode;
}) {
  if (loaded.state === 'loading') return <p className="soft">Loading…</p>;
  if (loaded.state === 'failed') return <p role="alert">{loaded.error}</p>;
  return children(loaded.value);
}

/** A link within the page; it works like any link in a new tab. */
export function PageLink({
  to,
  children,
  isCurrent,
}: {
  to: string;
  children: ReactNode;
  isCurrent?: boolean;
}) {
  const open = (event: MouseEvent) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    goTo(to);
  };
  return (
    <a href={to === '' ? '.' : to} onClick={open} aria-current={isCurrent === true ? 'page' : undefined}>
      {children}
    </a>
  );
}

/** A time in the reader's own zone. */
export function Moment({ at }: { at: number }) {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return <span>{String(at)}</span>;
  return (
    <time dateTime={date.toISOString()}>
      {date.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' })}
    </time>
  );
}

export function nameIn(names: Names, id: string): string {
  return Object.hasOwn(names, id) ? (names[id] ?? id) : id;
}

/** A text in which people, groups and channels appear by name; the id is there for who points at the name. */
export function Named({ text, names }: { text: string; names: Names }) {
  return namedParts(text, names).map((part, index) =>
    typeof part === 'string' ? (
      part
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text never move.
      <span key={index} className="name" title={part.id}>
        {part.name}
      </span>
    ),
  );
}

export function Facts({ facts, names = {} }: { facts: readonly Fact[]; names?: Names }) {
  return (
    <dl className="facts">
      {facts.map(({ label, text, hasIds }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the facts of a request never move.
        <div key={index}>
          <dt className="untrusted">{label}</dt>
          <dd>
            {hasIds === true ? (
              <Named text={text} names={names} />
            ) : isLong(text) ? (
              <Whole label={label} text={text} />
            ) : (
              text
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** A long text must not push the rest out of sight. */
function isLong(text: string): boolean {
  return text.length > 300 || text.includes('\n');
}

/** A word with a sign, so that the state is not told by colour alone. */
export function State({ state, word }: { state: string; word: string }) {
  return <span className={`state state-${toneOf(state)}`}>{word}</span>;
}

function toneOf(state: string): string {
  if (['succeeded', 'answered', 'approved', 'resolved'].includes(state)) return 'good';
  if (['rejected', 'failed'].includes(state)) return 'bad';
  return ['unknown', 'pending', 'started'].includes(state) ? 'open' : 'over';
}

/** A list of requests; each leads to its own address. */
export function RequestList({
  items,
  names,
  label,
}: {
  items: readonly ListItem[];
  names: Names;
  label: string;
}) {
  return (
    <ul className="requests" aria-label={label}>
      {items.map((item) => (
        <li key={item.id}>
          <h3>
            <PageLink to={`requests/${encodeURIComponent(item.id)}`}>
              <span className="untrusted">{item.title}</span>
            </PageLink>
          </h3>
          <p className="soft">
            <State state={item.state} word={item.word} />
            {item.isHighRisk === true && <strong> High risk ·</strong>}{' '}
            <span className="untrusted">{item.tool}</span> · requested by{' '}
            <Named text={showLine(item.requesters.join(', '))} names={names} />
            {item.deciders.length > 0 && (
              <>
                {' · decided by '}
                <Named text={showLine(item.deciders.join(', '))} names={names} />
              </>
            )}
            {' · '}
            <Moment at={item.askedAt} />
            {item.expiresAt !== undefined && item.state === 'pending' && (
              <>
                {' · expires '}
                <Moment at={item.expiresAt} />
              </>
            )}
          </p>
        </li>
      ))}
    </ul>
  );
}

/** A whole text as it is; a long one scrolls, also by the keyboard. */
export function Whole({ label, text, names = {} }: { label: string; text: string; names?: Names }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a part that scrolls must be reached by the keyboard.
    <section className="whole" aria-label={label} tabIndex={0}>
      <pre>
        <Named text={text} names={names} />
      </pre>
    </section>
  );
}
