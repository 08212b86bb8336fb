import { makeSecret } from '../ids.ts';
import type { Block, JsonObject, MessageContent } from '../state/types.ts';
import type { WorkspaceState } from '../state/workspace-state.ts';

interface Piece {
  text: string;
  element: JsonObject;
}

const TOKEN = /<[^<>]+>|https?:\/\/[^\s<>|]*[^\s<>|.,;:!?)'"]|[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g;

/**
 * Converts typed text as Slack's composer does: known mentions, links and addresses get Slack's syntax, the rest is
 * plain text with `&`, `<` and `>` escaped.
 */
export function composeMessage(state: WorkspaceState, typed: string): MessageContent {
  const pieces: Piece[] = [];
  let end = 0;
  for (const match of typed.matchAll(TOKEN)) {
    const piece = readToken(state, match[0]);
    if (piece === undefined) continue;
    if (match.index > end) pieces.push(plain(typed.slice(end, match.index)));
    pieces.push(piece);
    end = match.index + match[0].length;
  }
  if (end < typed.length) pieces.push(plain(typed.slice(end)));
  return { text: pieces.map(({ text }) => text).join(''), blocks: [richText(pieces)], attachments: [] };
}

/** Escapes the three characters of Slack's markup. */
function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function readToken(state: WorkspaceState, token: string): Piece | undefined {
  if (!token.startsWith('<')) {
    const url = token.includes('://') ? token : `mailto:${token}`;
    return token.includes('://') ? link(url) : link(url, token);
  }
  const [target = '', label] = token.slice(1, -1).split('|', 2);
  const id = target.slice(1);
  if (target.startsWith('@') && state.users.has(id))
    return { text: `<@${id}>`, element: { type: 'user', user_id: id } };
  if (target.startsWith('#') && state.channels.has(id)) {
    const channel = state.channels.get(id);
    const name = channel?.kind === 'public' ? channel.name : '';
    return { text: `<#${id}|${name}>`, element: { type: 'channel', channel_id: id } };
  }
  const groupId = target.replace(/^!subteam\^/, '');
  if (target.startsWith('!subteam^') && state.userGroups.has(groupId))
    return { text: `<${target}>`, element: { type: 'usergroup', usergroup_id: groupId } };
  if (['!here', '!channel', '!everyone'].includes(target))
    return { text: `<${target}>`, element: { type: 'broadcast', range: id } };
  return /^(https?:\/\/|mailto:)\S+$/.test(target) ? link(target, label) : undefined;
}

function link(url: string, label?: string): Piece {
  const shown = label === undefined ? '' : `|${escapeText(label)}`;
  return {
    text: `<${escapeText(url)}${shown}>`,
    element: { type: 'link', url, ...(label !== undefined && { text: label }) },
  };
}

function plain(text: string): Piece {
  return { text: escapeText(text), element: { type: 'text', text } };
}

function richText(pieces: readonly Piece[]): Block {
  const elements = pieces.map(({ element }) => element);
  return { type: 'rich_text', block_id: makeSecret(3), elements: [{ type: 'rich_text_section', elements }] };
}
