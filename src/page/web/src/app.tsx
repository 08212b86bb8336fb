import { useEffect, useRef } from 'react';
import type { Me } from '../../protocol.ts';
import { useSessionEnd } from './api.ts';
import { ApprovePage } from './approve.tsx';
import { FiguresView } from './figures.tsx';
import { Inbox } from './inbox.tsx';
import { Log } from './log.tsx';
import { ManifestPage } from './manifest.tsx';
import { Avatar, PageLink, useLoaded } from './parts.tsx';
import { PasskeysPage } from './passkeys.tsx';
import { RequestPage } from './request.tsx';
import { type Route, useRoute } from './use-route.ts';

const VIEWS = [
  { path: '', name: 'Inbox', isForAuditors: false },
  { path: 'log', name: 'Log', isForAuditors: true },
  { path: 'figures', name: 'Figures', isForAuditors: true },
  { path: 'manifest', name: 'Manifest', isForAuditors: true },
  { path: 'passkeys', name: 'Passkeys', isForAuditors: false },
] as const;

/** The page: who is signed in, the views, and the one that is open. */
export function App() {
  const me = useLoaded<Me>('me');
  const route = useRoute();
  if (me.state === 'loading') return <p className="alone">Loading…</p>;
  if (me.state === 'failed') return <SignIn error={me.status === 401 ? undefined : me.error} />;
  return <SignedIn me={me.value} route={route} />;
}

function SignIn({ error }: { error: string | undefined }) {
  return (
    <main className="alone">
      <Logo />
      <h1>Countersign</h1>
      {error !== undefined && <p role="alert">{error}</p>}
      <p>See what you asked for, and what waits for you.</p>
      <p>
        <SignInLink />
      </p>
    </main>
  );
}

/** Leads through the sign-in and back to this view. */
function SignInLink() {
  const { path, query } = useRoute();
  const asked = query.toString();
  const to = encodeURIComponent(asked === '' ? path : `${path}?${asked}`);
  return (
    <a className="button" href={`sign-in?to=${to}`}>
      Sign in
    </a>
  );
}

function Logo() {
  return (
    <svg className="logo" viewBox="0 0 26 26" aria-hidden="true">
      <rect width="26" height="26" rx="6" />
      <path d="M7 13.5l4 4 8-9" />
    </svg>
  );
}

/** Stands above everything once nobody is signed in any more; what was shown stays. */
function SessionNotice() {
  if (!useSessionEnd()) return null;
  return (
    <div role="alert" className="notice">
      <span>Your session has ended. Sign in again.</span> <SignInLink />
    </div>
  );
}

function SignedIn({ me, route }: { me: Me; route: Route }) {
  const views = VIEWS.filter(({ isForAuditors }) => !isForAuditors || me.seesAll);
  const main = useRef<HTMLElement>(null);
  const isFirst = useRef(true);
  const { path } = route;
  // A reader of the screen hears the new view; the first one is where the page begins.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the focus moves when the view changes.
  useEffect(() => {
    if (!isFirst.current) main.current?.focus();
    isFirst.current = false;
  }, [path]);
  const current = path.startsWith('requests/') ? '' : path;
  useTitle(path);
  return (
    <>
      <button type="button" className="skip" onClick={() => main.current?.focus()}>
        Skip to the content
      </button>
      <SessionNotice />
      <header>
        <p className="brand">
          <Logo /> Countersign
        </p>
        <nav aria-label="Views">
          <ul>
            {views.map(({ path: to, name }) => (
              <li key={to}>
                <PageLink to={to} isCurrent={current === to}>
                  {name}
                </PageLink>
              </li>
            ))}
          </ul>
        </nav>
        <form method="post" action="sign-out" className="me">
          <Avatar id={me.who} names={{ [me.who]: me.name }} />
          <span>{me.name}</span>
          <button type="submit" className="quiet">
            Sign out
          </button>
        </form>
      </header>
      <main id="main" tabIndex={-1} ref={main}>
        <View route={route} me={me} />
      </main>
    </>
  );
}

/** Names the view in the tab, where a reader of the screen hears it first. */
function useTitle(path: string): void {
  const name = path.startsWith('requests/') ? 'Request' : VIEWS.find((view) => view.path === path)?.name;
  useEffect(() => {
    document.title = name === undefined ? 'Countersign' : `${name} · Countersign`;
  }, [name]);
}

function View({ route, me }: { route: Route; me: Me }) {
  const { path, query } = route;
  const nonce = /^approve\/([\w-]+)$/.exec(path)?.[1];
  if (nonce !== undefined) return <ApprovePage key={nonce} nonce={nonce} />;
  const id = /^requests\/([^/]+)$/.exec(path)?.[1];
  if (id !== undefined) return <RequestPage key={id} id={decoded(id)} me={me} />;
  switch (path) {
    case '':
      return <Inbox query={query} />;
    case 'passkeys':
      return <PasskeysPage />;
    case 'log':
      return me.seesAll ? <Log query={query} /> : <NotThere />;
    case 'figures':
      return me.seesAll ? <FiguresView query={query} /> : <NotThere />;
    case 'manifest':
      return me.seesAll ? <ManifestPage query={query} /> : <NotThere />;
    default:
      return <NotThere />;
  }
}

/** An address that somebody typed may be no address. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function NotThere() {
  return (
    <>
      <h1>Page not found, or you don't have access</h1>
      <p>
        <PageLink to="">Go to the inbox</PageLink>
      </p>
    </>
  );
}
