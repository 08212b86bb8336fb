import { isObject } from '../../slack/state/normalize-blocks.ts';
import type { Message, User } from '../../slack/state/types.ts';
import type { WorkspaceState } from '../../slack/state/workspace-state.ts';

const MENTION = /<(@|!subteam\^|!)(\w+)(?:\|[^<>]*)?>/g;
const BROADCASTS = ['here', 'channel', 'everyone'];

/** True when a message mentions this person: by name, through a user group, or with a broadcast. */
export function isMentioned(state: WorkspaceState, user: User, message: Message): boolean {
  const isCalled = (id: string) =>
    id === user.id || BROADCASTS.includes(id) || (state.userGroups.get(id)?.users.includes(user.id) ?? false);
  return [...mentionedIn(message.text), ...mentionedBy(message.blocks)].some(isCalled);
}

function mentionedIn(text: string): string[] {
  return [...text.matchAll(MENTION)].map(([, , id = '']) => id);
}

/** Collects the mentions of mrkdwn text and rich text elements; plain text never mentions anyone. */
function mentionedBy(part: unknown): string[] {
  if (Array.isArray(part)) return part.flatMap(mentionedBy);
  if (!isObject(part)) return [];
  switch (part.type) {
    case 'mrkdwn':
      return mentionedIn(String(part.text));
    case 'plain_text':
      return [];
    case 'user':
      return [String(part.user_id)];
    case 'usergroup':
      return [String(part.usergroup_id)];
    case 'broadcast':
      return [String(part.range)];
    default:
      return Object.values(part).flatMap(mentionedBy);
  }
}
