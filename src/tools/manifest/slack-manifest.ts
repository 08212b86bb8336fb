import { stringify } from 'yaml';
import { isJsonObject, type JsonObject, type JsonValue } from '../../agent/json.ts';
import type { Manifest } from './manifest.ts';

/** How Slack reaches the bot: over a socket that the bot opens, or by calling its public URL. */
export type SlackConnection = { readonly mode: 'socket' } | { readonly mode: 'http'; readonly url: string };

export type SlackFormat = 'yaml' | 'json';

/** The one path on which the bot takes events, clicks and commands. */
const REQUEST_PATH = '/slack/events';
const CREATE_APP = 'https://api.slack.com/apps?new_app=1';

/** Slack's own part of a manifest, made to fit one way of connection; a URL of the other way is left out. */
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

/** Slack's part as text, to be pasted where Slack asks for a manifest. */
export function slackManifestText(
  manifest: Pick<Manifest, 'slack'>,
  connection: SlackConnection,
  format: SlackFormat,
): string {
  const section = slackManifest(manifest, connection);
  return format === 'json' ? `${JSON.stringify(section, null, 2)}\n` : stringify(section, { lineWidth: 0 });
}

/** The link that opens Slack's "create app" page with everything filled in. */
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
    throw new TypeError(`Slack calls only public https URLs, and "${url}" is none`);
  }
  const { origin, pathname } = new URL(url);
  const base = `${origin}${pathname}`.replace(/\/+$/, '');
  return base.endsWith(REQUEST_PATH) ? base : `${base}${REQUEST_PATH}`;
}

function withUrl(section: JsonObject, key: string, url: string | undefined): JsonObject {
  const { [key]: _former, ...rest } = section;
  return url === undefined ? rest : { ...rest, [key]: url };
}

/** Menus with outside options are rare; their URL is set only where the manifest has one. */
function withMenuUrl(interactivity: JsonObject, url: string | undefined): JsonObject {
  return interactivity.message_menu_options_url === undefined
    ? interactivity
    : withUrl(interactivity, 'message_menu_options_url', url);
}

function asObject(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}
