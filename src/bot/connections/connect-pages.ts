import type { HttpAnswer } from '../slack/http-answer.ts';
import { jsonAnswer } from '../slack/http-answer.ts';
import { connectionTexts } from '../texts/connections.ts';
import type { ConnectFlow } from './connect-flow.ts';
import { CALLBACK_PATH, CLIENT_PATH, LINK_PATH } from './person-connections.ts';

const COOKIE = 'countersign_connect';
const COOKIE_SECONDS = 900;
const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
};

export interface ConnectPages {
  readonly flow: ConnectFlow;
  readonly publicUrl: string;
}

/** Answers a browser on its way to and from an authorization server; `undefined` for any other path. */
export async function answerConnect(
  { flow, publicUrl }: ConnectPages,
  url: URL,
  cookies: string | undefined,
): Promise<HttpAnswer | undefined> {
  if (url.pathname === CLIENT_PATH) return clientDocument(publicUrl);
  if (url.pathname.startsWith(LINK_PATH)) {
    const opened = await flow.open(url.pathname.slice(LINK_PATH.length));
    if (opened.outcome === 'used') return page(410, connectionTexts.pageUsed);
    if (opened.outcome === 'failed') return page(502, connectionTexts.pageFailed);
    const secure = publicUrl.startsWith('https://') ? '; Secure' : '';
    const cookie = `${COOKIE}=${opened.browser}; Path=/connect; Max-Age=${COOKIE_SECONDS}; HttpOnly; SameSite=Lax${secure}`;
    return { status: 302, headers: { ...HEADERS, location: opened.url, 'set-cookie': cookie }, body: '' };
  }
  if (url.pathname !== CALLBACK_PATH) return undefined;
  const returned = await flow.receive(url.searchParams, cookieIn(cookies));
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
