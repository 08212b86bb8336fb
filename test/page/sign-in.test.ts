import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { CAST } from '../../playground/slack/default-cast.ts';
import { Cookies, Sessions } from '../../src/page/session.ts';
import {
  authorized,
  Browser,
  byEmail,
  COMPANY,
  inSlack,
  type PageStory,
  signIn,
  startPageStory,
} from './support.ts';

const SECOND = 1000;

/** A hostile attempt: what is done with a new browser, whose answer must be no session. */
type Attempt = (story: PageStory, browser: Browser) => Promise<Response>;

/** Comes back from the provider with a changed answer. */
const withAnswer =
  (change: (url: URL) => void): Attempt =>
  async ({ url }, browser) => {
    const back = await authorized(browser, url);
    change(back);
    return browser.get(back.href);
  };

/** Signs in as somebody while the provider lies. */
const withLies =
  (lies: PageStory['provider']['lies']): Attempt =>
  async ({ provider, url }, browser) => {
    provider.lies = lies;
    return signIn(browser, url);
  };

const asPerson =
  (person: (story: PageStory) => PageStory['provider']['person']): Attempt =>
  async (story, browser) => {
    story.provider.person = person(story);
    return signIn(browser, story.url);
  };

/** Plants a cookie beside a browser's own. */
const withCookie =
  (name: string, value: string): Attempt =>
  async ({ url }, browser) => {
    browser.jar.set(name, value);
    return browser.get(`${url}/page/api/me`);
  };

const now = () => Math.floor(Date.now() / SECOND);

const BY_SLACK: Readonly<Record<string, Attempt>> = {
  // The first one: true metadata are kept.
  'metadata of another issuer': withLies({ metadataIssuer: 'https://evil.example' }),
  'no state': withAnswer((back) => back.searchParams.delete('state')),
  'another state': withAnswer((back) => back.searchParams.set('state', 'x'.repeat(43))),
  'two states': withAnswer((back) => back.searchParams.append('state', 'x')),
  'no code': withAnswer((back) => back.searchParams.delete('code')),
  'another code': withAnswer((back) => back.searchParams.set('code', 'guessed')),
  'an error with a code': withAnswer((back) => back.searchParams.set('error', 'access_denied')),
  'an answer of another issuer': withAnswer((back) => back.searchParams.set('iss', 'https://evil.example')),
  'no issuer although the provider names itself': withAnswer((back) => back.searchParams.delete('iss')),
  'an answer without a begin': async ({ url }, browser) =>
    browser.get(`${url}/page/signed-in?code=x&state=${'y'.repeat(43)}`),
  'an answer in another browser': async ({ url }, browser) =>
    browser.get((await authorized(new Browser(), url)).href),
  "somebody's answer with the attempt of another browser": async ({ url }, browser) => {
    await authorized(browser, url);
    return browser.get((await authorized(new Browser(), url)).href);
  },
  'a code that was used': async ({ url }, browser) => {
    const other = new Browser();
    const back = await authorized(other, url);
    for (const [name, value] of other.jar) browser.jar.set(name, value);
    await other.get(back.href);
    return browser.get(back.href);
  },
  'a code that the provider would take twice': async ({ provider, url }, browser) => {
    provider.lies = { keepsCodes: true };
    const other = new Browser();
    const back = await authorized(other, url);
    for (const [name, value] of other.jar) browser.jar.set(name, value);
    await other.get(back.href);
    return browser.get(back.href);
  },
  'a used state with a fresh code': async ({ url }, browser) => {
    const other = new Browser();
    const back = await authorized(other, url);
    for (const [name, value] of other.jar) browser.jar.set(name, value);
    await other.get(back.href);
    const fresh = await authorized(new Browser(), url);
    back.searchParams.set('code', fresh.searchParams.get('code') ?? '');
    return browser.get(back.href);
  },
  'an attempt that was changed': async ({ url }, browser) => {
    const back = await authorized(browser, url);
    for (const [name, value] of browser.jar) browser.jar.set(name, `${value.slice(0, -6)}AAAAAA`);
    return browser.get(back.href);
  },
  'another nonce': withLies({ claims: { nonce: 'stolen' } }),
  'no nonce': withLies({ claims: { nonce: undefined } }),
  'a token for another client': withLies({ claims: { aud: 'another-client' } }),
  'a token of another issuer': withLies({ claims: { iss: 'https://evil.example' } }),
  'a token that is over': withLies({ claims: { exp: now() - 3600 } }),
  'a token without an end': withLies({ claims: { exp: undefined } }),
  'a token that another key signed': withLies({ foreignKey: true }),
  'a token without a signature': withLies({ unsigned: true }),
  'no token': withLies({ noIdToken: true }),
  'a browser that was sent to another provider': withLies({ answerIssuer: 'https://evil.example' }),
  'another workspace': asPerson(() => inSlack(CAST.alice, 'T0EVIL0001')),
  'no workspace': asPerson(() => ({ sub: CAST.alice, 'https://slack.com/user_id': CAST.alice })),
  'only a subject': asPerson(() => ({ sub: CAST.alice })),
  'an email address without a workspace': asPerson(() => byEmail('alice@acme.example')),
  'a guest': asPerson(({ team }) => inSlack(CAST.guest, team)),
  'a person of another organisation': asPerson(({ team }) => inSlack(CAST.outsider, team)),
  'a person who does not exist': asPerson(({ team }) => inSlack('U0NOBODY01', team)),
  'the bot itself': asPerson(({ team, workspace }) => inSlack(workspace.state.app.botUserId, team)),
  'a session that somebody chose (fixation)': withCookie('countersign-session', 'chosen'),
  'a session in plain text': withCookie(
    'countersign-session',
    Buffer.from(JSON.stringify({ who: CAST.admin, until: now() * 2 * SECOND })).toString('base64url'),
  ),
  'an attempt in place of a session': async ({ url }, browser) => {
    await authorized(browser, url);
    const [, attempt = ''] = [...browser.jar].find(([name]) => name.endsWith('-sign-in')) ?? [];
    browser.jar.set('countersign-session', attempt);
    const answer = await browser.get(`${url}/page/api/me`);
    browser.jar.delete('countersign-session');
    return answer;
  },
};

test(`${Object.keys(BY_SLACK).length} hostile sign-ins with Slack let nobody in`, async () => {
  const story = await startPageStory();
  for (const [name, attempt] of Object.entries(BY_SLACK)) {
    const browser = new Browser();
    story.provider.lies = {};
    story.provider.person = inSlack(CAST.alice, story.team);
    const answer = await attempt(story, browser);
    const me = await browser.get(`${story.url}/page/api/me`);
    // Each is refused for what is wrong with it, and not as one too many.
    expect([name, me.status, [401, 403].includes(answer.status)]).toEqual([name, 401, true]);
  }
  // The same way without a lie lets in, so that the attempts were refused for what was wrong with them.
  story.provider.lies = {};
  const alice = await story.browserOf(CAST.alice);
  const me = await alice.get(`${story.url}/page/api/me`);
  expect(me.status).toBe(200);
  expect(await me.json()).toMatchObject({ who: CAST.alice, seesAll: false });
});

const BY_COMPANY: Readonly<Record<string, Attempt>> = {
  'an address that is not verified': asPerson(() => ({
    ...byEmail('alice@acme.example'),
    email_verified: false,
  })),
  'an address verified as a word': asPerson(() => ({
    ...byEmail('alice@acme.example'),
    email_verified: 'true',
  })),
  'no address': asPerson(() => ({ sub: CAST.alice })),
  'an address of nobody': asPerson(() => byEmail('nobody@elsewhere.example')),
  "Slack's claims": asPerson(({ team }) => inSlack(CAST.alice, team)),
  'the address of a guest': asPerson(({ workspace }) =>
    byEmail(`gil@${workspace.state.team.domain}.example`),
  ),
};

test(`${Object.keys(BY_COMPANY).length} hostile sign-ins with the company's provider let nobody in`, async () => {
  const story = await startPageStory({ signIn: COMPANY });
  for (const [name, attempt] of Object.entries(BY_COMPANY)) {
    const browser = new Browser();
    await attempt(story, browser);
    expect([name, (await browser.get(`${story.url}/page/api/me`)).status]).toEqual([name, 401]);
  }
  const alice = await story.browserOf(CAST.alice);
  expect(await (await alice.get(`${story.url}/page/api/me`)).json()).toMatchObject({ who: CAST.alice });
});

describe('a person who signed in', () => {
  test('comes back to the view that they wanted, and to no other host', async () => {
    const story = await startPageStory();
    story.provider.person = inSlack(CAST.alice, story.team);
    const cases = [
      ['requests/C1:1~a', 'requests/C1:1~a'],
      ['?text=refund&page=2', '?text=refund&page=2'],
      ['//evil.example', ''],
      ['/evil', ''],
      ['https://evil.example', ''],
      ['..//evil.example', ''],
      ['\\\\evil.example', ''],
      ['log\r\nset-cookie: a=b', ''],
    ];
    for (const [wanted = '', route] of cases) {
      const answer = await signIn(new Browser(), story.url, wanted);
      expect([wanted, answer.headers.get('location')]).toEqual([wanted, `${story.url}/page/${route}`]);
    }
  });

  test('has a cookie that no script and no other site can use, and leaves by a click on the page alone', async () => {
    const story = await startPageStory();
    const alice = new Browser();
    story.provider.person = inSlack(CAST.alice, story.team);
    const answer = await signIn(alice, story.url);
    const [cookie = ''] = answer.headers.getSetCookie();
    for (const part of ['HttpOnly', 'SameSite=Lax', 'Secure', 'Path=/', 'Max-Age=28800'])
      expect(cookie).toContain(part);
    const out = `${story.url}/page/sign-out`;
    const headers = { origin: 'https://evil.example' };
    expect((await alice.send(out, { method: 'POST', headers })).status).toBe(403);
    expect((await alice.send(out, { method: 'POST' })).status).toBe(403);
    expect((await alice.get(out)).status).toBe(405);
    expect((await alice.get(`${story.url}/page/api/me`)).status).toBe(200);
    expect((await alice.send(out, { method: 'POST', headers: { origin: story.url } })).status).toBe(303);
    expect((await alice.get(`${story.url}/page/api/me`)).status).toBe(401);
  });

  test('has no session anywhere after signing out, also not in a cookie that was copied before', async () => {
    const story = await startPageStory();
    const [alice, phone, bruno] = [
      await story.browserOf(CAST.alice),
      await story.browserOf(CAST.alice),
      await story.browserOf(CAST.bruno),
    ];
    const thief = new Browser();
    for (const [name, value] of alice.jar) thief.jar.set(name, value);
    const statuses = async (...browsers: Browser[]) =>
      Promise.all(browsers.map(async (each) => (await each.get(`${story.url}/page/api/me`)).status));
    expect(await statuses(alice, phone, thief, bruno)).toEqual([200, 200, 200, 200]);
    const signOut = { method: 'POST', headers: { origin: story.url } };
    expect((await alice.send(`${story.url}/page/sign-out`, signOut)).status).toBe(303);
    expect(await statuses(alice, phone, thief, bruno)).toEqual([401, 401, 401, 200]);

    const again = await story.browserOf(CAST.alice);
    expect(await statuses(again, thief)).toEqual([200, 401]);
    // A session that ended ends no other.
    expect((await thief.send(`${story.url}/page/sign-out`, signOut)).status).toBe(303);
    expect(await statuses(again)).toEqual([200]);
  });

  test('has no session while the record does not answer', async () => {
    const refusing = { readDocument: async () => Promise.reject(new Error('down')) };
    const cookies = new Cookies('a secret of the tests', 'https://bot.example');
    const sessions = new Sessions(cookies, { ...refusing, writeDocument: async () => 'stale' });
    const cookie = cookies.openSession({ who: CAST.alice, lastSignOut: '', freshAt: 0 }).split(';')[0];
    await expect(sessions.read(cookie)).rejects.toThrow('down');
    await expect(sessions.end(cookie)).rejects.toThrow('down');
  });

  test('sees nothing more when Slack has deactivated them or made them a guest', async () => {
    const story = await startPageStory();
    const alice = await story.browserOf(CAST.alice);
    const bruno = await story.browserOf(CAST.bruno);
    for (const [who, change] of [
      [CAST.alice, { deleted: true }],
      [CAST.bruno, { is_restricted: true }],
    ] as const)
      Object.assign(story.workspace.state.users.get(who) ?? {}, change);
    // Another process has no older answer of Slack.
    const second = await story.startOwnBot({
      ...story.setup,
      manifest: { ...story.setup.manifest, page: story.bot.toolbox.manifest.page },
    });
    for (const browser of [alice, bruno]) {
      const answer = await browser.get(`http://127.0.0.1:${second.port}/page/api/me`);
      expect(answer.status).toBe(403);
    }
  });

  test('signs in through a flood of others, of which the provider hears nothing', async () => {
    const story = await startPageStory();
    const { url, provider } = story;
    const flood = async (path: string) => {
      for (let tries = 0; tries <= 300; tries += 1) {
        const { status } = await fetch(`${url}${path}`, { redirect: 'manual' });
        expect(status).toBe(path === '/page/signed-in' ? 403 : 302);
      }
    };
    await flood('/page/signed-in');
    await flood('/page/sign-in');
    expect(provider.lookups).toBe(1);
    provider.person = inSlack(CAST.alice, story.team);
    expect((await signIn(new Browser(), url)).status).toBe(302);
  });
});

test('a session ends after 8 hours, an attempt after 10 minutes, and over HTTPS no neighbour of the host can plant either', () => {
  const cookies = new Cookies('a secret of the tests', 'https://bot.example');
  const named = (line: string) => line.split(';', 1)[0] ?? '';
  const session = named(cookies.openSession({ who: CAST.alice, lastSignOut: '', freshAt: 0 }));
  const attempt = named(
    cookies.openAttempt({
      ...{ state: 's', nonce: 'n', verifier: 'v', issuer: 'i', clientId: 'c', route: '' },
      isFresh: false,
    }),
  );
  expect(session).toMatch(/^__Host-countersign-session=/);
  expect(cookies.sessionIn(session)).toMatchObject({ who: CAST.alice });
  expect(cookies.attemptIn(attempt)).toMatchObject({ state: 's' });
  // A second cookie of the same name, another key and another place are all nobody.
  expect(cookies.sessionIn(`${session}; ${session}`)).toBeUndefined();
  expect(new Cookies('another secret', 'https://bot.example').sessionIn(session)).toBeUndefined();
  expect(cookies.sessionIn(attempt.replace('-sign-in=', '-session='))).toBeUndefined();
  vi.useFakeTimers({ now: Date.now() + 10 * 60_000 + 1 });
  onTestFinished(() => void vi.useRealTimers());
  expect(cookies.attemptIn(attempt)).toBeUndefined();
  expect(cookies.sessionIn(session)).toBeDefined();
  vi.setSystemTime(Date.now() + 8 * 3_600_000);
  expect(cookies.sessionIn(session)).toBeUndefined();
});

test('every answer of the page forbids frames, other hosts, inline code and guessing of types', async () => {
  const story = await startPageStory();
  for (const path of [
    '/',
    '/page/',
    '/page/api/me',
    '/page/sign-in',
    '/page/signed-in',
    '/page/assets/none.js',
  ]) {
    const { headers } = await fetch(`${story.url}${path}`, { redirect: 'manual' });
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain('unsafe');
    expect(headers.get('referrer-policy')).toBe('same-origin');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  }
});

test('without a page in the manifest the bot serves none', async () => {
  const story = await startPageStory();
  const other = await story.startOwnBot({ settings: { ...story.setup.settings, port: 0 } });
  for (const path of ['/', '/page/', '/page/api/me', '/page/sign-in'])
    expect((await fetch(`http://127.0.0.1:${other.port}${path}`)).status).toBe(404);
});
