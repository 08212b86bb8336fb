import type { Entity } from '../../../protocol.ts';

type Entities = ReadonlyMap<string, Entity>;

const EVERYONE = ['here', 'channel', 'everyone'];
const TOKEN =
  /<(?:@([A-Z0-9]+)|#([A-Z0-9]+)(?:\|[^<>]*)?|!subteam\^([A-Z0-9]+)(?:\|[^<>]*)?|!(here|channel|everyone))>/g;

/** Replaces each known `@name` and `#channel` in typed text with its token. */
export function namesToTokens(entities: Entities, typed: string): string {
  const tokens = new Map<string, string>();
  for (const name of EVERYONE) tokens.set(`@${name}`, `<!${name}>`);
  for (const entity of entities.values()) {
    for (const [name, token] of tokensOf(entity)) tokens.set(name.toLowerCase(), token);
  }
  const names = [...tokens.keys()].toSorted((one, other) => other.length - one.length).map(escapePattern);
  const pattern = new RegExp(`(?<![\\w@#<])(?:${names.join('|')})(?![\\w-])`, 'gi');
  return typed.replace(pattern, (name) => tokens.get(name.toLowerCase()) ?? name);
}

/** Converts stored text for editing: names instead of tokens, without Slack's escapes. */
export function tokensToNames(entities: Entities, text: string): string {
  return text
    .replace(TOKEN, (token, user?: string, channel?: string, group?: string, everyone?: string) => {
      if (everyone !== undefined) return `@${everyone}`;
      const entity = entities.get(
        user !== undefined
          ? `person:${user}`
          : channel !== undefined
            ? `channel:${channel}`
            : `group:${group}`,
      );
      return entity === undefined ? token : (tokensOf(entity)[0]?.[0] ?? token);
    })
    .replace(
      /<((?:https?:\/\/|mailto:)[^<>|]+)(?:\|([^<>]*))?>/g,
      (_link, url: string, label?: string) => label ?? url,
    )
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}

function tokensOf(entity: Entity): readonly (readonly [name: string, token: string])[] {
  if (entity.kind === 'person') {
    const token = `<@${entity.id}>`;
    return [entity.realName, entity.name].filter((name) => name !== '').map((name) => [`@${name}`, token]);
  }
  if (entity.kind === 'group') return [[`@${entity.handle}`, `<!subteam^${entity.id}>`]];
  if (entity.kind === 'channel' && entity.type !== 'im' && entity.type !== 'mpim')
    return [[`#${entity.name}`, `<#${entity.id}>`]];
  return [];
}

function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
