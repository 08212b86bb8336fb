import type { SlackConnection } from '../tools/manifest/slack-manifest.ts';
import { UsageError } from './usage-error.ts';

export const HTTP_OPTION = { http: { type: 'string' } } as const;
export const HTTP_HELP =
  '  --http URL     have Slack call this public https URL instead of using Socket Mode';

/** The way of connection that the options ask for; only a URL that Slack would call is taken. */
export function slackConnection(url: string | undefined): SlackConnection {
  if (url === undefined) return { mode: 'socket' };
  if (!URL.canParse(url) || new URL(url).protocol !== 'https:')
    throw new UsageError(`--http wants a public https URL, and "${url}" is none`);
  return { mode: 'http', url };
}
