import { z } from 'zod';

const Body = z.record(z.string(), z.unknown());

/** What Slack sent. */
export type SlackBody = z.infer<typeof Body>;

/** Reads a body of Slack's: an event is JSON, a click is JSON in a form, a command is the form; `undefined` for anything else. */
export function parseSlackBody(contentType: string | undefined, body: string): SlackBody | undefined {
  try {
    if (!isForm(contentType)) return Body.parse(JSON.parse(body));
    const form = new URLSearchParams(body);
    const payload = form.get('payload');
    return payload === null ? Object.fromEntries(form) : Body.parse(JSON.parse(payload));
  } catch {
    return undefined;
  }
}

/** Tells whether Slack only looks at the certificate; nothing else in such a request is read, for it is not signed. */
export function isCertificateCheck(contentType: string | undefined, body: string): boolean {
  return isForm(contentType) && new URLSearchParams(body).get('ssl_check') === '1';
}

function isForm(contentType = ''): boolean {
  return contentType.split(';')[0]?.trim().toLowerCase() === 'application/x-www-form-urlencoded';
}
