import { hash, randomBytes, randomInt, randomUUID, timingSafeEqual } from 'node:crypto';
import type { Logger } from 'pino';
import { z } from 'zod';
import { describeError } from '../../agent/errors.ts';
import { tryParseJson } from '../../agent/json.ts';
import { type HttpAnswer, jsonAnswer } from '../../http/http-answer.ts';
import type { HttpPart } from '../../http/http-part.ts';
import { type AccountDocuments, type AccountRecord, accountsIn } from '../../store/documents/accounts.ts';
import type { RequesterServer, Sealer } from '../../tools/mcp/auth/connections.ts';
import { Grant, PendingConsent } from '../../tools/mcp/auth/grant.ts';
import { connectionTexts } from '../views/texts/connections.ts';
import {
  CALLBACK_PATH,
  CLIENT_PATH,
  LINK_PATH,
  loadConsent,
  PersonConnections,
  type PersonConnectionsOptions,
} from './person-connections.ts';

/** The time for each step of an attempt. */
const STEP_MS = 15 * 60_000;
const MAX_TRIES = 5;
const CODE_LENGTH = 8;
/** Without letters and digits that look alike. */
const CODE_ALPHABET = 'ABCDEFGHJKMNPQRSTVWXYZ23456789';

const Attempt = z.object({
  person: z.string(),
  server: z.string(),
  /** The request that waits for it, if there is one. */
  requestId: z.string().optional(),
  /** Set when the link was opened: the authorization, and what the same browser and the same answer must show. */
  opened: z.object({ pending: PendingConsent, nonce: z.string(), browser: z.string() }).optional(),
  /** Set when the browser came back: the account, and the code that its page shows. */
  returned: z.object({ grant: Grant, code: z.string() }).optional(),
});
type Attempt = Readonly<z.infer<typeof Attempt>>;

interface ConnectFlowOptions {
  readonly store: AccountRecord;
  readonly sealer: Sealer | undefined;
  readonly connections: PersonConnections;
  readonly findServer: (name: string) => RequesterServer | undefined;
  readonly publicUrl: string;
  readonly logger: Logger;
}

type OpenedLink =
  | { readonly outcome: 'redirect'; readonly url: string; readonly browser: string }
  | { readonly outcome: 'used' }
  | { readonly outcome: 'failed' };
type ReturnedBrowser =
  | { readonly outcome: 'code'; readonly code: string; readonly server: string }
  | { readonly outcome: 'used' | 'refused' | 'other-browser' };
type Confirmation =
  | { readonly outcome: 'connected'; readonly requestId: string | undefined; readonly server: string }
  | { readonly outcome: 'wrong-code' | 'not-yet' | 'over' };

/**
 * Connects the account of a person to a server in three steps: the person gets a link in Slack, the browser that opens it returns with an
 * account and shows a code, and the person enters the code in Slack. The code proves that one person has both: neither who opens somebody
 * else's link nor who sends their own to somebody else gets further than a page.
 */
class ConnectFlow {
  readonly #options: ConnectFlowOptions;

  constructor(options: ConnectFlowOptions) {
    this.#options = options;
  }

  /** Whether there is a key, without which nothing can be stored. */
  get isPossible(): boolean {
    return this.#options.sealer !== undefined;
  }

  /** Begins an attempt; the link works once. */
  async offer(
    person: string,
    server: string,
    requestId: string | undefined,
  ): Promise<{ readonly attempt: string; readonly link: string }> {
    const token = randomBytes(32).toString('base64url');
    const attempt = attemptOf(token);
    await this.#save(attempt, { person, server, requestId });
    return { attempt, link: `${this.#options.publicUrl.replace(/\/$/, '')}${LINK_PATH}${token}` };
  }

  /** Opens a link, once: returns the address of the authorization server, and the mark of the browser. */
  async open(token: string): Promise<OpenedLink> {
    const { connections, logger } = this.#options;
    const id = attemptOf(token);
    const attempt = await this.#read(id);
    const server = attempt && this.#options.findServer(attempt.server);
    if (attempt === undefined || server === undefined || !(await this.#take(id, 'open')))
      return { outcome: 'used' };
    const [nonce, browser] = [randomBytes(16).toString('base64url'), randomBytes(32).toString('base64url')];
    try {
      const { probeChallenge, startConsent } = await loadConsent();
      const challenge = await probeChallenge(server.url, server.fetch);
      const wanted = await connections.wantedScope(server, attempt.person);
      const granted = await connections.grantedScope(server, attempt.person);
      const { authorizationUrl, pending } = await startConsent(connections.settingsFor(server), {
        challenge,
        state: `${id}.${nonce}`,
        granted: [granted, wanted].filter((scope) => scope !== undefined).join(' ') || undefined,
      });
      await this.#save(id, { ...attempt, opened: { pending, nonce, browser } });
      return { outcome: 'redirect', url: authorizationUrl.href, browser };
    } catch (error) {
      logger.warn({ server: server.name, reason: describeError(error) }, 'account not connected');
      return { outcome: 'failed' };
    }
  }

  /** Receives the browser that the authorization server sent back, once; nothing is connected by that. */
  async receive(answer: URLSearchParams, browser: string | undefined): Promise<ReturnedBrowser> {
    const { connections, logger } = this.#options;
    const [id = '', nonce = ''] = (answer.get('state') ?? '').split('.');
    const attempt = await this.#read(id);
    const server = attempt && this.#options.findServer(attempt.server);
    const opened = attempt?.opened;
    if (attempt === undefined || opened === undefined || server === undefined) return { outcome: 'used' };
    if (!isSame(nonce, opened.nonce)) return { outcome: 'used' };
    if (!isSame(browser ?? '', opened.browser)) {
      logger.warn({ server: server.name, person: attempt.person }, 'connection returned in another browser');
      return { outcome: 'other-browser' };
    }
    if (!(await this.#take(id, 'return'))) return { outcome: 'used' };
    try {
      const { finishConsent } = await loadConsent();
      const grant = await finishConsent(connections.settingsFor(server), opened.pending, answer);
      const code = makeCode();
      await this.#save(id, { ...attempt, opened: undefined, returned: { grant, code } });
      return { outcome: 'code', code, server: server.name };
    } catch (error) {
      logger.warn({ server: server.name, reason: describeError(error) }, 'account not connected');
      await this.#options.store.endAttempt(id);
      return { outcome: 'refused' };
    }
  }

  /** Completes an attempt of a person by the code that their browser shows. */
  async confirm(id: string, person: string, entered: string): Promise<Confirmation> {
    const { connections, store, findServer } = this.#options;
    const attempt = await this.#read(id);
    const server = attempt && findServer(attempt.server);
    if (attempt === undefined || server === undefined || attempt.person !== person)
      return { outcome: 'over' };
    const { returned, requestId } = attempt;
    if (returned === undefined) return { outcome: 'not-yet' };
    if (!isSame(entered.toUpperCase().replace(/[^A-Z0-9]/g, ''), returned.code)) {
      if (await this.#mayTryAgain(id)) return { outcome: 'wrong-code' };
      await store.endAttempt(id);
      return { outcome: 'over' };
    }
    await connections.connect(server, person, returned.grant);
    await store.endAttempt(id);
    return { outcome: 'connected', requestId, server: server.name };
  }

  async #mayTryAgain(id: string): Promise<boolean> {
    for (let tries = 1; tries < MAX_TRIES; tries += 1) if (await this.#take(id, `try-${tries}`)) return true;
    return false;
  }

  #take(id: string, step: string): Promise<boolean> {
    return this.#options.store.lock(`${id}:${step}`, randomUUID(), STEP_MS);
  }

  async #save(id: string, attempt: Attempt): Promise<void> {
    const { store, sealer } = this.#options;
    if (sealer === undefined) throw new Error('CONNECTIONS_KEY is not set');
    await store.saveAttempt(id, sealer.seal(`attempt|${id}`, JSON.stringify(attempt)), STEP_MS);
  }

  async #read(id: string): Promise<Attempt | undefined> {
    const { store, sealer } = this.#options;
    if (!/^[0-9a-f]{64}$/.test(id)) return undefined;
    const sealed = await store.readAttempt(id);
    const text = sealed === undefined ? undefined : sealer?.open(`attempt|${id}`, sealed);
    return text === undefined ? undefined : Attempt.safeParse(tryParseJson(text)).data;
  }
}

/** The name of an attempt; who reads it in Redis or in a modal cannot tell the link from it. */
function attemptOf(token: string): string {
  return hash('sha256', token);
}

function makeCode(): string {
  return Array.from({ length: CODE_LENGTH }, () => CODE_ALPHABET[randomInt(CODE_ALPHABET.length)]).join('');
}

function isSame(left: string, right: string): boolean {
  return timingSafeEqual(hash('sha256', left, 'buffer'), hash('sha256', right, 'buffer'));
}

const COOKIE = 'countersign_connect';
const COOKIE_SECONDS = 900;
const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
};

interface ConnectPages {
  readonly flow: ConnectFlow;
  readonly publicUrl: string;
}

/** The addresses of a browser on its way to and from an authorization server. */
export function connectPart({ flow, publicUrl }: ConnectPages): HttpPart {
  return {
    paths: ['/connect/*'],
    open: async () => ({
      routes: [
        { method: 'GET', path: CLIENT_PATH, answer: () => clientDocument(publicUrl) },
        {
          method: 'GET',
          path: `${LINK_PATH}:link`,
          answer: ({ params: { link = '' } }) => openLink({ flow, publicUrl }, link),
        },
        {
          method: 'GET',
          path: CALLBACK_PATH,
          answer: ({ url, headers }) => receiveBrowser(flow, url.searchParams, cookieIn(headers.cookie)),
        },
      ],
    }),
  };
}

async function openLink({ flow, publicUrl }: ConnectPages, link: string): Promise<HttpAnswer> {
  const opened = await flow.open(link);
  if (opened.outcome === 'used') return page(410, connectionTexts.pageUsed);
  if (opened.outcome === 'failed') return page(502, connectionTexts.pageFailed);
  const secure = publicUrl.startsWith('https://') ? '; Secure' : '';
  const cookie = `${COOKIE}=${opened.browser}; Path=/connect; Max-Age=${COOKIE_SECONDS}; HttpOnly; SameSite=Lax${secure}`;
  return { status: 302, headers: { ...HEADERS, location: opened.url, 'set-cookie': cookie }, body: '' };
}

async function receiveBrowser(
  flow: ConnectFlow,
  answer: URLSearchParams,
  browser: string | undefined,
): Promise<HttpAnswer> {
  const returned = await flow.receive(answer, browser);
  switch (returned.outcome) {
    case 'code':
      return page(200, connectionTexts.pageCode(returned.server), returned.code);
    case 'used':
      return page(410, connectionTexts.pageUsed);
    case 'refused':
      return page(400, connectionTexts.pageRefused);
    case 'other-browser':
      return page(403, connectionTexts.pageOtherBrowser);
  }
}

/** Builds the client metadata document: its address is the client id of the bot. */
function clientDocument(publicUrl: string): HttpAnswer {
  const base = publicUrl.replace(/\/$/, '');
  return jsonAnswer(
    200,
    {
      client_id: `${base}${CLIENT_PATH}`,
      client_name: 'Countersign',
      client_uri: base,
      redirect_uris: [`${base}${CALLBACK_PATH}`],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    { 'cache-control': 'max-age=3600' },
  );
}

function page(status: number, text: string, code?: string): HttpAnswer {
  const shown =
    code === undefined
      ? ''
      : `<p><strong><code>${code}</code></strong></p><p>${connectionTexts.pageWarning}</p>`;
  const title = connectionTexts.pageTitle;
  const body = `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title></head><body><main><h1>${title}</h1><p>${escapeHtml(text)}</p>${shown}</main></body></html>\n`;
  return { status, headers: HEADERS, body };
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

function cookieIn(cookies = ''): string | undefined {
  return cookies
    .split(';')
    .map((part) => part.trim().split('='))
    .find(([name]) => name === COOKIE)?.[1];
}

/** The accounts of people, and the way in which they are connected. */
export interface Accounts {
  readonly connections: PersonConnections;
  readonly flow: ConnectFlow;
}

interface OnRecord {
  readonly store: AccountDocuments;
}

/** Opens the accounts on the record. */
export function openConnections(
  options: Omit<PersonConnectionsOptions, 'store'> & OnRecord,
): PersonConnections {
  return new PersonConnections({ ...options, store: accountsIn(options.store) });
}

/** Adds the way in which people connect an account to the accounts on the record. */
export function openAccounts(
  connections: PersonConnections,
  options: Omit<ConnectFlowOptions, 'store' | 'connections'> & OnRecord,
): Accounts {
  const store = accountsIn(options.store);
  return { connections, flow: new ConnectFlow({ ...options, store, connections }) };
}
