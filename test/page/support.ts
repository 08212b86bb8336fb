import { onTestFinished } from 'vitest';
import { findFreePort } from '../../playground/redis/find-free-port.ts';
import { CAST } from '../../playground/slack/default-cast.ts';
import { parseManifest } from '../../src/tools/manifest/parse.ts';
import { MANIFEST, SHIPPED_APP, type StoryOptions, startStory } from '../stories/support.ts';
import { withBuiltTools } from '../support/build-module.ts';
import { CLIENT, type Person, type Provider, startProvider } from './provider.ts';

export const COMPANY = 'the company';

/** A browser of one person: it keeps cookies, follows nothing by itself, and sends what a browser would. */
export class Browser {
  readonly jar = new Map<string, string>();

  async get(url: string, headers: Record<string, string> = {}): Promise<Response> {
    return this.send(url, { headers });
  }

  async send(
    url: string,
    { headers = {}, ...init }: RequestInit & { headers?: Record<string, string> },
  ): Promise<Response> {
    const cookie = [...this.jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, { ...init, redirect: 'manual', headers: { cookie, ...headers } });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '') this.jar.delete(name);
      else this.jar.set(name, value);
    }
    return response;
  }

  get session(): string | undefined {
    return [...this.jar].find(([name]) => name.endsWith('-session'))?.[1];
  }
}

/** The address where the provider sends the browser back. */
export async function authorized(browser: Browser, url: string, route = ''): Promise<URL> {
  const begun = await browser.get(`${url}/page/sign-in?to=${encodeURIComponent(route)}`);
  const to = begun.headers.get('location');
  const there = to === null ? begun : await fetch(to, { redirect: 'manual' });
  return new URL(there.headers.get('location') ?? `${url}/page/signed-in`);
}

/** Signs a person in as far as they get. */
export async function signIn(browser: Browser, url: string, route = ''): Promise<Response> {
  return browser.get((await authorized(browser, url, route)).href);
}

/** The claims that Slack gives about a person. */
export function inSlack(who: string, team: string): Person {
  return { sub: who, 'https://slack.com/user_id': who, 'https://slack.com/team_id': team };
}

/** The claims that a company gives about a person. */
export function byEmail(email: string): Person {
  return { sub: email, email, email_verified: true };
}

export interface PageStoryOptions extends Pick<StoryOptions, 'replies' | 'timing' | 'sweep' | 'environment'> {
  /** Who signs people in; Slack if it is left out. */
  readonly signIn?: typeof COMPANY;
  readonly auditors?: readonly string[];
  readonly manifest?: string;
  readonly auditKey?: string;
  /** Further settings of the page in the manifest. */
  readonly page?: string;
}

/** Starts the whole product with a page, and the provider at which people sign in. */
export async function startPageStory(options: PageStoryOptions = {}) {
  const {
    signIn: by,
    auditors = [CAST.bruno],
    manifest = MANIFEST,
    auditKey,
    page: more = '',
    ...others
  } = options;
  const asked = by === COMPANY ? ['channels:read', 'users:read.email'] : ['channels:read'];
  const scopes = [...(SHIPPED_APP.scopes ?? []), ...asked];
  const story = await startStory({
    ...others,
    withoutBot: true,
    slack: { app: { scopes } },
  });
  const port = await findFreePort();
  // A passkey belongs to a name, never to a number.
  const url = `http://localhost:${port}`;
  const { origin, pathname } = new URL(story.slack.apiUrl);
  const provider: Provider = await startProvider({ redirectUri: `${url}/page/signed-in`, forwardTo: origin });
  onTestFinished(() => provider.stop());
  const page = `page: { client_id: ${CLIENT.id}, client_secret: "\${PAGE_SECRET}", auditors: [${auditors.join(', ')}]${by === COMPANY ? `, issuer: "${provider.issuer}"` : ''}${more} }`;
  const text = `${manifest}\n${page}\n`;
  const environment = { ...options.environment, PAGE_SECRET: CLIENT.secret };
  const parse = async (written: string) => {
    const parsed = parseManifest(await withBuiltTools(written), { file: 'story.yml', environment });
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
    return parsed.manifest;
  };
  const slack = { ...story.setup.settings.slack, apiUrl: `${provider.issuer}${pathname}` };
  const settings = {
    ...story.setup.settings,
    ...{ slack, port, publicUrl: url },
    ...(auditKey !== undefined && { auditKey: { text: auditKey } }),
  };
  const changes = { manifest: await parse(text), settings };
  const bot = await story.startOwnBot(changes);
  /** Starts the same bot again, once this one has ended. */
  const startAgain = () => story.startOwnBot(changes);
  /** Exchanges a part of the manifest while the bot runs. */
  const change = async (from: string, to: string) => bot.toolbox.replace(await parse(text.replace(from, to)));
  /** The same bot for a process of its own. */
  const asProcess = { setup: { ...story.setup, settings }, text, environment };
  const team = await bot.context.directory.ownTeam();

  /** Signs somebody in at once. */
  const browserOf = async (who: string, { isFresh = false } = {}): Promise<Browser> => {
    const browser = new Browser();
    const name = (await bot.context.directory.member(who)).email ?? '';
    provider.person = by === COMPANY ? byEmail(name) : inSlack(who, team);
    const answer = await signIn(browser, url, isFresh ? 'passkeys' : '');
    if (browser.session === undefined) throw new Error(`${who} was not signed in: ${await answer.text()}`);
    return browser;
  };
  return { ...story, bot, url, provider, team, browserOf, startAgain, change, asProcess };
}

export type PageStory = Awaited<ReturnType<typeof startPageStory>>;
