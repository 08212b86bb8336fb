import type { Directory } from './directory.ts';

/** Converts a Slack message to plain text for the model: names for mentions, URLs for links, characters for entities. */
export async function readableText(
  text: string,
  directory: Pick<Directory, 'member'>,
  botUserId: string | undefined,
): Promise<string> {
  const withoutBot = botUserId === undefined ? text : text.replaceAll(`<@${botUserId}>`, '');
  const ids = [
    ...new Set([...withoutBot.matchAll(/<@([UW][A-Z0-9]+)(?:\|[^>]*)?>/g)].flatMap(([, id]) => id ?? [])),
  ];
  const names = new Map(
    await Promise.all(
      ids.map(
        async (id) =>
          [
            id,
            await directory.member(id).then(
              ({ name }) => name,
              () => id,
            ),
          ] as const,
      ),
    ),
  );
  return withoutBot
    .replace(/<@([UW][A-Z0-9]+)(?:\|[^>]*)?>/g, (_whole, id: string) => `@${names.get(id) ?? id} (${id})`)
    .replace(/<#([CG][A-Z0-9]+)(?:\|([^>]*))?>/g, (_whole, id: string, name = '') => `#${name || id}`)
    .replace(
      /<!(\w+)(?:\^[^|>]*)?(?:\|([^>]*))?>/g,
      (_whole, word: string, label = '') => label || `@${word}`,
    )
    .replace(/<((?:https?|mailto|tel):[^|>]+)(?:\|([^>]*))?>/g, (_whole, url: string, label = '') =>
      label === '' || url.endsWith(label) ? url : `${label} (${url})`,
    )
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
    .trim();
}

/**
 * Writes the text of a slash command as the person typed it: Slack escapes mentions, channels and links in it, so that a command can tell
 * who is meant, and other commands want the words alone.
 */
export function typedText(text: string): string {
  return text
    .replace(/<@[UW][A-Z0-9]+\|([^>]*)>/g, '@$1')
    .replace(/<#[CG][A-Z0-9]+\|([^>]*)>/g, '#$1')
    .replace(/<((?:https?|mailto):[^|>]+)(?:\|[^>]*)?>/g, '$1')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}
