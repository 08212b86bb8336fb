import { makeSecret } from '../ids.ts';
import type { Block, JsonObject } from '../state/types.ts';

const TOKEN = /<(@|#|!subteam\^|!)?([^>|]+)(?:\|([^>]*))?>/g;

/** The `rich_text` block Slack's composer makes of what a person typed. */
export function richTextOf(text: string): Block {
  const elements: JsonObject[] = [];
  let end = 0;
  for (const match of text.matchAll(TOKEN)) {
    if (match.index > end) elements.push({ type: 'text', text: text.slice(end, match.index) });
    elements.push(inlineOf(match[1], match[2] ?? '', match[3]));
    end = match.index + match[0].length;
  }
  if (end < text.length) elements.push({ type: 'text', text: text.slice(end) });
  return { type: 'rich_text', block_id: makeSecret(3), elements: [{ type: 'rich_text_section', elements }] };
}

function inlineOf(sigil: string | undefined, target: string, label: string | undefined): JsonObject {
  switch (sigil) {
    case '@':
      return { type: 'user', user_id: target };
    case '#':
      return { type: 'channel', channel_id: target };
    case '!subteam^':
      return { type: 'usergroup', usergroup_id: target };
    case '!':
      return { type: 'broadcast', range: target };
    default:
      return { type: 'link', url: target, ...(label !== undefined && { text: label }) };
  }
}
