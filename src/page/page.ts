import { readdir, readFile } from 'node:fs/promises';
import { RateLimiter } from '../agent/util/rate-limiter.ts';
import { type HttpAnswer, refusal } from '../http/http-answer.ts';
import type { HttpRequest, HttpRoute, HttpRoutes } from '../http/http-part.ts';
import type { PageDeclaration } from '../tools/manifest/manifest.ts';
import { API_ROUTES, type ApiRoute } from './api.ts';
import type { ApiContext } from './api-call.ts';
import { ROOT } from './links.ts';
import { RequestIndex } from './request-index.ts';
import { Cookies, Sessions } from './session.ts';
import { RETURN_PATH, SignIn, type SignInOptions } from './sign-in.ts';
import { pageTexts } from './texts.ts';
import { viewerOf } from './viewer.ts';

export interface PageOptions
  extends Omit<ApiContext, 'index' | 'declared' | 'origin'>,
    Pick<SignInOptions, 'fetch' | 'slackIssuer' | 'logger'> {
  /** The page of the manifest that is active now; `undefined` if it has none. */
  readonly page: () => PageDeclaration | undefined;
  readonly publicUrl: string;
  /** The secret that the key of the cookies is derived from. */
  readonly secret: string;
  /** The folder of the built browser part. */
  readonly files?: URL;
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

/** The calls of one person in a minute. */
const MOST_CALLS = 300;

/** No inline code, no other host, no frame around it. */
const SECURITY: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'self'; form-action 'self'; frame-ancestors 'none'",
  // With none at all a form of the page would not say where it comes from.
  'referrer-policy': 'same-origin',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
};

type AnswerDeclared = (declared: PageDeclaration, request: HttpRequest) => HttpAnswer | Promise<HttpAnswer>;
/** Answers only while the manifest has a page. */
type WhileDeclared = (answer: AnswerDeclared) => HttpRoute['answer'];

/** Opens the page beside Slack. It reads the record and keeps nothing of its own; who signs in is checked in Slack with each call. */
export function openPage(options: PageOptions): HttpRoutes {
  const { page, publicUrl, secret } = options;
  const base = publicUrl.replace(/\/$/, '');
  const cookies = new Cookies(secret, publicUrl);
  const sessions = new Sessions(cookies, options.store);
  const signIn = new SignIn({ ...options, cookies, sessions });
  const files = readPageFiles(options.files);

  const beginSignIn = async (declared: PageDeclaration, { url }: HttpRequest): Promise<HttpAnswer> => {
    const begun = await signIn.begin(declared, url.searchParams.get('to') ?? '');
    if (begun.outcome === 'no-provider') return message(502, pageTexts.noProvider, base);
    return redirect(begun.url, begun.cookie);
  };
  const completeSignIn = async (
    declared: PageDeclaration,
    { url, headers }: HttpRequest,
  ): Promise<HttpAnswer> => {
    const done = await signIn.complete(declared, url.searchParams, headers.cookie);
    if (done.outcome === 'failed') return message(403, pageTexts.problems[done.problem], base);
    return redirect(`${base}${ROOT}${done.route}`, done.cookie);
  };
  const signOut = async (_: PageDeclaration, { headers }: HttpRequest): Promise<HttpAnswer> => {
    if (!isOwnOrigin(headers, base)) return refusal(403, pageTexts.wrongOrigin);
    return { ...redirect(`${base}${ROOT}`, await sessions.end(headers.cookie)), status: 303 };
  };
  const showAsset = async (_: PageDeclaration, { url }: HttpRequest): Promise<HttpAnswer> => {
    const asset = (await files).get(url.pathname.slice(ROOT.length));
    return asset === undefined ? NOT_FOUND : fileAnswer(asset);
  };
  const showShell = async (): Promise<HttpAnswer> => {
    const shell = (await files).get('index.html');
    return shell === undefined ? refusal(503, pageTexts.notBuilt) : shellAnswer(shell, base);
  };
  const toPage = () => redirect(`${base}${ROOT}`);

  const whileDeclared: WhileDeclared = (answer) => (request) => {
    const declared = page();
    return declared === undefined ? NOT_FOUND : answer(declared, request);
  };
  const show = (path: string, answer: AnswerDeclared): HttpRoute => ({
    method: 'GET',
    path,
    takesHead: true,
    answer: whileDeclared(answer),
  });
  return {
    headers: SECURITY,
    routes: [
      ...apiRoutes(options, { base, sessions, page: whileDeclared }),
      show(`${ROOT}api/*`, () => NOT_FOUND),
      { method: 'POST', path: `${ROOT}sign-out`, answer: whileDeclared(signOut) },
      show(`${ROOT}sign-out`, () => refusal(405, 'Use POST.', { allow: 'POST' })),
      show('/', toPage),
      show('/page', toPage),
      show(`${ROOT}sign-in`, beginSignIn),
      // A preview of the link by HEAD must not use a sign-in up.
      { method: 'GET', path: RETURN_PATH, answer: whileDeclared(completeSignIn) },
      show(`${ROOT}assets/*`, showAsset),
      show(`${ROOT}*`, showShell),
    ],
  };
}
const NOT_FOUND = refusal(404, pageTexts.notFound);
const RETRY = { 'retry-after': '60' };

/** Makes the routes of the page's own interface: calls of a person who is signed in, from the page itself, and not too often. */
function apiRoutes(
  options: PageOptions,
  {
    base,
    sessions,
    page,
  }: { readonly base: string; readonly sessions: Sessions; readonly page: WhileDeclared },
): HttpRoute[] {
  const context = { ...options, index: new RequestIndex(options.store), origin: new URL(base).origin };
  const limiter = new RateLimiter({ max: MOST_CALLS, perMs: 60_000 });
  const call =
    ({ method, isForAuditors, answer }: ApiRoute): AnswerDeclared =>
    async (declared, { url, params: { id = '' }, headers, body }) => {
      const session = await sessions.read(headers.cookie);
      if (session === undefined) return refusal(401, pageTexts.notSignedIn);
      if (method === 'POST' && !isOwnOrigin(headers, base)) return refusal(403, pageTexts.wrongOrigin);
      if (!limiter.admits(session.who)) return refusal(429, pageTexts.tooMany, RETRY);
      const { auditors } = declared;
      const viewer = await viewerOf(options.directory, session.who, { admins: options.admins(), auditors });
      if ('problem' in viewer)
        return refusal(viewer.problem === 'cannot-check' ? 503 : 403, pageTexts.problems[viewer.problem]);
      if (isForAuditors === true && !viewer.seesAll) return refusal(403, pageTexts.onlyAuditors);
      return answer({
        context: { ...context, declared },
        viewer,
        id,
        query: url.searchParams,
        body: method === 'POST' ? (await body()).toString('utf8') : '',
        freshAt: session.freshAt,
      });
    };
  return API_ROUTES.map((route) => ({
    method: route.method,
    path: `${ROOT}api/${route.path}`,
    takesHead: true,
    answer: page(call(route)),
  }));
}

/** Tells whether a browser sent a request from the page itself; a browser always names the origin of what changes something. */
function isOwnOrigin({ origin }: HttpRequest['headers'], base: string): boolean {
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
