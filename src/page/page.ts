import { readdir, readFile } from 'node:fs/promises';
import type { IncomingHttpHeaders } from 'node:http';
import type { Logger } from 'pino';
import type { WebRequest } from '../bot/slack/bot-server.ts';
import { type HttpAnswer, refusal } from '../bot/slack/http-answer.ts';
import type { PageDeclaration } from '../tools/manifest/manifest.ts';
import { type ApiContext, answerApi } from './api.ts';
import { RequestIndex } from './request-index.ts';
import { Cookies, Sessions } from './session.ts';
import { RETURN_PATH, SignIn } from './sign-in.ts';
import { pageTexts } from './texts.ts';
import { viewerOf } from './viewer.ts';

export interface PageOptions extends Omit<ApiContext, 'index' | 'declared' | 'origin'> {
  /** The page of the manifest that is active now; `undefined` if it has none. */
  readonly page: () => PageDeclaration | undefined;
  readonly publicUrl: string;
  /** The secret that the key of the cookies is derived from. */
  readonly secret: string;
  readonly fetch: typeof fetch;
  readonly slackIssuer?: string;
  /** The folder of the built browser part. */
  readonly files?: URL;
  readonly logger: Logger;
}

export interface Page {
  /** Answers a browser; `undefined` if the path is not the page's or there is no page. */
  answer(request: WebRequest): Promise<HttpAnswer | undefined>;
}

export interface PageLinks {
  /** Returns the address of a request on the page; `undefined` if there is no page. */
  linkTo(requestId: string): string | undefined;
  /** Returns the address where a person signs by a one-time link, or keeps their passkeys; `undefined` if there is no page. */
  passkeyLink(nonce?: string): string | undefined;
}

/** Makes the addresses of the page that the active manifest has. */
export function pageLinks(publicUrl: string, page: PageOptions['page']): PageLinks {
  const base = publicUrl.replace(/\/$/, '');
  return {
    linkTo: (requestId) =>
      page() === undefined ? undefined : `${base}${ROOT}requests/${encodeURIComponent(requestId)}`,
    passkeyLink: (nonce) =>
      page() === undefined
        ? undefined
        : `${base}${ROOT}${nonce === undefined ? 'passkeys' : `approve/${nonce}`}`,
  };
}

/** The folder of the built browser part, as far from the source as from the bundle and the package. */
const BUILT = new URL('../page/web/dist/', import.meta.url);

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
};

interface PageFile {
  readonly type: string;
  readonly text: string;
}

const ROOT = '/page/';
/** For each minute: steps of sign-ins from one address, which behind a proxy is that of everybody, and calls of one person. */
const MOST = { signIn: 300, api: 300 } as const;

/** No inline code, no other host, no frame around it. */
const SECURITY: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'self'; form-action 'self'; frame-ancestors 'none'",
  // With none at all a form of the page would not say where it comes from.
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
};

/** Opens the page beside Slack. It reads the record and keeps nothing of its own; who signs in is checked in Slack with each call. */
export function openPage(options: PageOptions): Page {
  const { page, publicUrl, secret, logger } = options;
  const base = publicUrl.replace(/\/$/, '');
  const cookies = new Cookies(secret, publicUrl);
  const sessions = new Sessions(cookies, options.store);
  const signIn = new SignIn({ ...options, cookies, sessions });
  const limiter = new RateLimiter();
  const api: Omit<ApiContext, 'declared'> = {
    ...{ ...options, index: new RequestIndex(options.store) },
    origin: new URL(base).origin,
  };
  let files: Promise<ReadonlyMap<string, PageFile>> | undefined;
  const readFiles = () => {
    files ??= readPageFiles(options.files);
    return files;
  };

  const beginSignIn = async (
    declared: PageDeclaration,
    { url, address }: WebRequest,
  ): Promise<HttpAnswer> => {
    if (!limiter.allows(`sign-in ${address}`, MOST.signIn)) return refusal(429, pageTexts.tooMany, RETRY);
    const begun = await signIn.begin(declared, url.searchParams.get('to') ?? '');
    if (begun.outcome === 'no-provider') return message(502, pageTexts.noProvider, base);
    return redirect(begun.url, begun.cookie);
  };

  const completeSignIn = async (declared: PageDeclaration, request: WebRequest): Promise<HttpAnswer> => {
    if (!limiter.allows(`sign-in ${request.address}`, MOST.signIn))
      return refusal(429, pageTexts.tooMany, RETRY);
    const done = await signIn.complete(declared, request.url.searchParams, request.headers.cookie);
    if (done.outcome === 'failed') return message(403, pageTexts.problems[done.problem], base);
    return redirect(`${base}${ROOT}${done.route}`, done.cookie);
  };

  const callApi = async (declared: PageDeclaration, request: WebRequest): Promise<HttpAnswer> => {
    const { method, url, headers } = request;
    const session = await sessions.read(headers.cookie);
    if (session === undefined) return refusal(401, pageTexts.notSignedIn);
    if (method === 'POST' && !isOwnOrigin(headers, base)) return refusal(403, pageTexts.wrongOrigin);
    if (!limiter.allows(`api ${session.who}`, MOST.api)) return refusal(429, pageTexts.tooMany, RETRY);
    const { auditors } = declared;
    const viewer = await viewerOf(options.directory, session.who, { admins: options.admins(), auditors });
    if ('problem' in viewer) {
      const status = viewer.problem === 'cannot-check' ? 503 : 403;
      return refusal(status, pageTexts.problems[viewer.problem]);
    }
    return answerApi({ ...api, declared }, viewer, {
      freshAt: session.freshAt,
      path: url.pathname.slice(`${ROOT}api/`.length),
      ...{ method: method === 'HEAD' ? 'GET' : method, query: url.searchParams, body: request.body },
    });
  };

  const route = async (declared: PageDeclaration, request: WebRequest): Promise<HttpAnswer> => {
    const { method, url, headers } = request;
    const { pathname } = url;
    if (pathname.startsWith(`${ROOT}api/`)) return callApi(declared, request);
    if (pathname === `${ROOT}sign-out`) {
      if (method !== 'POST') return refusal(405, 'Use POST.', { allow: 'POST' });
      if (!isOwnOrigin(headers, base)) return refusal(403, pageTexts.wrongOrigin);
      return { ...redirect(`${base}${ROOT}`, await sessions.end(headers.cookie)), status: 303 };
    }
    // A preview of the link by HEAD must not use a sign-in up.
    if (method !== 'GET' && (method !== 'HEAD' || pathname === RETURN_PATH))
      return refusal(405, 'Use GET.', { allow: 'GET' });
    if (pathname === '/' || pathname === '/page') return redirect(`${base}${ROOT}`);
    if (pathname === `${ROOT}sign-in`) return beginSignIn(declared, request);
    if (pathname === RETURN_PATH) return completeSignIn(declared, request);
    const asset = (await readFiles()).get(pathname.slice(ROOT.length));
    if (pathname.startsWith(`${ROOT}assets/`))
      return asset === undefined ? refusal(404, pageTexts.notFound) : fileAnswer(asset);
    const shell = (await readFiles()).get('index.html');
    return shell === undefined ? refusal(503, pageTexts.notBuilt) : shellAnswer(shell, base);
  };

  return {
    async answer(request) {
      const { pathname } = request.url;
      const declared = page();
      const isOurs = pathname === '/' || pathname === '/page' || pathname.startsWith(ROOT);
      if (declared === undefined || !isOurs) return undefined;
      const { status, headers, body } = await route(declared, request);
      logger.debug({ path: pathname, status }, 'page answered');
      return { status, headers: { 'cache-control': 'no-store', ...SECURITY, ...headers }, body };
    },
  };
}

const RETRY = { 'retry-after': '60' };

/** Tells whether a browser sent a request from the page itself; a browser always names the origin of what changes something. */
function isOwnOrigin({ origin }: IncomingHttpHeaders, base: string): boolean {
  return origin !== undefined && origin === new URL(base).origin;
}

function redirect(location: string, cookie?: string): HttpAnswer {
  return {
    status: 302,
    headers: { location, ...(cookie !== undefined && { 'set-cookie': cookie }) },
    body: '',
  };
}

/** Reads the files of the browser part once, by their path; without a build there are none. */
async function readPageFiles(folder: URL = BUILT): Promise<ReadonlyMap<string, PageFile>> {
  const paths = await readdir(folder, { recursive: true }).catch(() => []);
  const files = await Promise.all(
    paths.flatMap((path) => {
      const type = TYPES[path.slice(path.lastIndexOf('.') + 1)];
      if (type === undefined) return [];
      const name = path.replaceAll('\\', '/');
      return [readFile(new URL(name, folder), 'utf8').then((text) => [name, { type, text }] as const)];
    }),
  );
  return new Map(files);
}

/** The names of built files change with their contents. */
function fileAnswer({ type, text }: PageFile): HttpAnswer {
  const headers = { 'content-type': type, 'cache-control': 'public, max-age=31536000, immutable' };
  return { status: 200, headers, body: text };
}

/** Answers with the page; its addresses begin where the bot is reached, also below a path of a proxy. */
function shellAnswer({ type, text }: PageFile, base: string): HttpAnswer {
  const path = escapeHtml(`${new URL(base).pathname.replace(/\/$/, '')}${ROOT}`);
  const body = text.replace('<head>', `<head><base href="${path}">`);
  return { status: 200, headers: { 'content-type': type }, body };
}

/** Answers a person with one sentence, before there is a page for them. */
function message(status: number, text: string, base: string): HttpAnswer {
  const again = `${new URL(base).pathname.replace(/\/$/, '')}${ROOT}sign-in`;
  const body = `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${pageTexts.title}</title></head><body><main><h1>${pageTexts.signInFailed}</h1><p>${escapeHtml(text)}</p><p><a href="${escapeHtml(again)}">${pageTexts.tryAgain}</a></p></main></body></html>\n`;
  return { status, headers: { 'content-type': 'text/html; charset=utf-8' }, body };
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

const WINDOW_MS = 60_000;
const MOST_KEYS = 10_000;

/** Counts requests in each minute, in this process. */
class RateLimiter {
  #window = 0;
  readonly #counts = new Map<string, number>();

  allows(key: string, most: number): boolean {
    const window = Math.floor(Date.now() / WINDOW_MS);
    if (window !== this.#window || this.#counts.size > MOST_KEYS) this.#counts.clear();
    this.#window = window;
    const count = (this.#counts.get(key) ?? 0) + 1;
    this.#counts.set(key, count);
    return count <= most;
  }
}
