import { type MouseEvent, type ReactNode, useEffect, useState } from 'react';
import { showLine } from '../../../bot/views/texts/show-text.ts';
import { namedParts } from '../../names.ts';
import type { Fact, Names } from '../../protocol.ts';
import { ask, isSessionOver, type Loaded } from './api.ts';
import { Clock, Moment } from './times.tsx';
import { goTo } from './use-route.ts';

/** What changes by itself is asked for again so often, while somebody looks. */
const LIVE_MS = 5_000;

/** Loads an answer of the server, and again when its address changes; one that is live also by itself. */
export function useLoaded<Value>(path: string, { isLive = false } = {}): Loaded<Value> {
  const [loaded, setLoaded] = useState<Loaded<Value>>({ state: 'loading' });
  useEffect(() => {
    let [isOver, isAsking] = [false, false];
    const load = async () => {
      isAsking = true;
      const answer = await ask<Value>(path);
      isAsking = false;
      if (!isOver) setLoaded((before) => newer(before, answer));
    };
    const again = () => {
      if (!isAsking && !document.hidden && !isSessionOver()) void load();
    };
    setLoaded({ state: 'loading' });
    void load();
    const timer = isLive ? setInterval(again, LIVE_MS) : undefined;
    if (isLive) document.addEventListener('visibilitychange', again);
    return () => {
      isOver = true;
      clearInterval(timer);
      document.removeEventListener('visibilitychange', again);
    };
  }, [path, isLive]);
  return loaded;
}

/** What was shown stays while the bot cannot be asked, or nobody is signed in; it says when it was true. */
function newer<Value>(before: Loaded<Value>, answer: Loaded<Value>): Loaded<Value> {
  if (before.state !== 'loaded' || answer.state !== 'failed') return answer;
  const { status } = answer;
  return status === 0 || status === 401 || status === 429 || status >= 500 ? before : answer;
}

/** Shows an answer, or that it is on its way, or why there is none. */
export function Answer<Value>({
  loaded,
  children,
}: {
  loaded: Loaded<Value>;
  children: (value: Value) => ReactNode;
}) {
  if (loaded.state === 'loading') return <p className="soft inset">Loading…</p>;
  if (loaded.state === 'failed')
    return (
      <p role="alert" className="inset">
        {loaded.error}
      </p>
    );
  return children(loaded.value);
}

/** Says when an answer was true. */
export function Updated<Value>({ loaded }: { loaded: Loaded<Value> }) {
  if (loaded.state !== 'loaded') return null;
  return (
    <span className="soft">
      Updated <Clock at={loaded.at} />
    </span>
  );
}

/** A part of a view, with its heading and what stands beside it. */
export function Box({ title, beside, children }: { title: string; beside?: ReactNode; children: ReactNode }) {
  return (
    <section className="box" aria-label={title}>
      <div className="box-head">
        <h2>{title}</h2>
        {beside}
      </div>
      {children}
    </section>
  );
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

/** The start of the id of a caller. */
const CALLER = /^caller:/;

export function nameIn(names: Names, id: string): string {
  return Object.hasOwn(names, id) ? (names[id] ?? id) : showLine(id.replace(CALLER, ''));
}

const COLOURS = 6;

/** The first letters of a name in a circle whose colour is the person's own. */
export function Avatar({ id, names }: { id: string; names: Names }) {
  const letters = nameIn(names, id)
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
    .map((word) => [...word][0]);
  const colour = [...id].reduce((sum, letter) => sum + (letter.codePointAt(0) ?? 0), 0) % COLOURS;
  const shown = [letters[0], letters.length > 1 ? letters.at(-1) : undefined].join('').toUpperCase();
  return (
    <span className={`avatar colour-${colour}`} aria-hidden="true">
      {shown}
    </span>
  );
}

/** People by name, each with the id for who points at it. */
export function People({ ids, names }: { ids: readonly string[]; names: Names }) {
  return ids.map((id, index) => (
    <span key={id}>
      {index > 0 && ', '}
      <span className="name" title={id}>
        {nameIn(names, id)}
      </span>
    </span>
  ));
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

export function Facts({
  facts,
  names = {},
  className = '',
}: {
  facts: readonly Fact[];
  names?: Names;
  className?: string;
}) {
  if (facts.length === 0) return null;
  return (
    <dl className={`facts ${className}`}>
      {facts.map((fact, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the facts of a request never move.
        <div key={index}>
          <dt className="untrusted">{fact.label}</dt>
          <dd>
            <FactText fact={fact} names={names} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

function FactText({ fact: { label, text, hasIds, at }, names }: { fact: Fact; names: Names }) {
  if (at !== undefined) return <Moment at={at} />;
  if (hasIds === true) return <Named text={text} names={names} />;
  return isLong(text) ? <Whole label={label} text={text} /> : text;
}

/** A long text must not push the rest out of sight. */
export function isLong(text: string): boolean {
  return text.length > 300 || text.includes('\n');
}

/** A word on the colour of what it says. */
export function Pill({ tone, children }: { tone: string; children: ReactNode }) {
  return <span className={`pill pill-${tone}`}>{children}</span>;
}

/** The state of a request. */
export function State({ state, word }: { state: string; word: string }) {
  return <Pill tone={toneOf(state)}>{word}</Pill>;
}

function toneOf(state: string): string {
  if (['succeeded', 'answered', 'approved', 'resolved'].includes(state)) return 'good';
  if (['rejected', 'failed'].includes(state)) return 'bad';
  if (['unknown', 'started', 'paused'].includes(state)) return 'info';
  return state === 'pending' ? 'open' : 'over';
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

interface PersonFieldProps {
  readonly label: string;
  readonly name: string;
  readonly isRequired?: boolean;
  readonly value?: string;
}

/** A field for a person, with those to choose from. */
export function PersonField({ label, name, isRequired = false, value = '' }: PersonFieldProps) {
  const loaded = useLoaded<Names>('people');
  const people = loaded.state === 'loaded' ? Object.values(loaded.value) : [];
  const list = `${name}-people`;
  return (
    <label>
      {label}
      <input name={name} list={list} required={isRequired} defaultValue={value} autoComplete="off" />
      <datalist id={list}>
        {[...new Set(people)].sort().map((each) => (
          <option key={each} value={each} />
        ))}
      </datalist>
    </label>
  );
}
