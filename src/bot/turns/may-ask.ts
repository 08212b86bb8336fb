import type { Askers } from '../../tools/manifest/manifest.ts';
import type { Directory } from '../slack/directory.ts';
import { judgeSlackFailure } from '../slack/slack-failure.ts';

export const NOT_AN_ASKER = "You can't give me tasks in this workspace. Ask a full member of it to do so.";
const NOT_CHECKED = "I can't check right now whether you may ask me. Please try again in a moment.";

/** Checks in Slack whether a person may give the bot a task; returns the sentence that says why not. */
export async function askerProblem(
  directory: Pick<Directory, 'member' | 'group'>,
  askers: Askers,
  { user, channel }: { readonly user: string; readonly channel: string },
): Promise<string | undefined> {
  try {
    const { isBot, isGuest, isStranger, isDeactivated } = await directory.member(user);
    if (isDeactivated) return NOT_AN_ASKER;
    // The listener lets only bots through that the manifest names.
    if (isBot || (!isGuest && !isStranger)) return undefined;
    if (askers.people.includes(user) || askers.channels.includes(channel)) return undefined;
    // A guest of another organisation is external first of all.
    if (isStranger ? askers.external : askers.guests) return undefined;
    for (const group of askers.groups) if ((await directory.group(group)).includes(user)) return undefined;
    return NOT_AN_ASKER;
  } catch (error) {
    // Slack sends an event again that was not acknowledged, so the message is not lost while Slack cannot be asked.
    if (judgeSlackFailure(error).kind === 'later') throw error;
    return NOT_CHECKED;
  }
}

/** Tells whether the manifest lets a bot ask. */
export function isAskingBot({ bots }: Askers, ids: readonly (string | undefined)[]): boolean {
  return ids.some((id) => id !== undefined && bots.includes(id));
}
