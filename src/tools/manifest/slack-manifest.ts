import { stringify } from 'yaml';
import { isJsonObject, type JsonObject, type JsonValue } from '../../agent/json.ts';
import type { Manifest } from './manifest.ts';

/** The connection of Slack to the bot: a socket that the bot opens, or requests to its public URL. */
export type SlackConnection = { readonly mode: 'socket' } | { readonly mode: 'http'; readonly url: string };

export type SlackFormat = 'yaml' | 'json';

/** The path that receives events, clicks and commands. */
const REQUEST_PATH = '/slack/events';
const CREATE_APP = 'https://api.slack.com/apps?new_app=1';

/** Returns Slack's part of a manifest for one kind of connection; URLs of the other kind are left out. */
export function slackManifest({ slack }: Pick<Manifest, 'slack'>, connection: SlackConnection): JsonObject {
  const url = connection.mode === 'http' ? requestUrl(connection.url) : undefined;
  const settings = asObject(slack.settings);
  const features = asObject(slack.features);
  const { event_subscriptions: events, interactivity } = settings;
  const { slash_commands: commands } = features;
  return {
    ...slack,
    ...(slack.features !== undefined && {
      features: {
        ...features,
        ...(Array.isArray(commands) && {
          slash_commands: commands.map((command: JsonValue) => withUrl(asObject(command), 'url', url)),
        }),
      },
    }),
    settings: {
      ...settings,
      ...(isJsonObject(events) && { event_subscriptions: withUrl(events, 'request_url', url) }),
      ...(isJsonObject(interactivity) && {
        interactivity: withMenuUrl(withUrl(interactivity, 'request_url', url), url),
      }),
      socket_mode_enabled: connection.mode === 'socket',
    },
  };
}

/** Writes Slack's part as text, to be pasted where Slack asks for a manifest. */
export function slackManifestText(
  manifest: Pick<Manifest, 'slack'>,
  connection: SlackConnection,
  format: SlackFormat,
): string {
  const section = slackManifest(manifest, connection);
  return format === 'json' ? `${JSON.stringify(section, null, 2)}\n` : stringify(section, { lineWidth: 0 });
}

/** Returns a link to Slack's "create app" page with the manifest filled in. */
export function createAppLink(
  manifest: Pick<Manifest, 'slack'>,
  connection: SlackConnection,
  format: SlackFormat = 'json',
): string {
  const section = slackManifest(manifest, connection);
  const text = format === 'json' ? JSON.stringify(section) : stringify(section, { lineWidth: 0 });
  return `${CREATE_APP}&manifest_${format}=${encodeURIComponent(text)}`;
}

function requestUrl(url: string): string {
  if (!URL.canParse(url) || new URL(url).protocol !== 'https:') {
    throw new TypeError(`Slack calls only public https URLs, but got "${url}"`);
  }
  const { origin, pathname } = new URL(url);
  const base = `${origin}${pathname}`.replace(/\/+$/, '');
  return base.endsWith(REQUEST_PATH) ? base : `${base}${REQUEST_PATH}`;
}

function withUrl(section: JsonObject, key: string, url: string | undefined): JsonObject {
  const { [key]: _former, ...rest } = section;
  return url === undefined ? rest : { ...rest, [key]: url };
}

/** Sets the URL for menus with external options only if the manifest has one. */
function withMenuUrl(interactivity: JsonObject, url: string | undefined): JsonObject {
  return interactivity.message_menu_options_url === undefined
    ? interactivity
    : withUrl(interactivity, 'message_menu_options_url', url);
}

function asObject(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}
