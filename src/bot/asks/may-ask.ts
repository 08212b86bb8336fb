import type { Askers } from '../../tools/manifest/manifest.ts';
import type { Directory } from '../slack/directory.ts';
import { judgeSlackFailure } from '../slack/slack-failure.ts';
import { replyTexts } from '../views/texts/replies.ts';

/** Checks in Slack whether a person may give the bot a task; returns the sentence that says why not. */
export async function askerProblem(
  directory: Pick<Directory, 'member' | 'group'>,
  askers: Askers,
  { user, channel }: { readonly user: string; readonly channel: string },
): Promise<string | undefined> {
  try {
    const { isBot, isGuest, isStranger, isDeactivated } = await directory.member(user);
    if (isDeactivated) return replyTexts.notAnAsker;
    const isMember = !isGuest && !isStranger;
    // The listener lets only bots through that the manifest names.
    if (isBot || (isMember && askers.members)) return undefined;
    if (askers.people.includes(user) || askers.channels.includes(channel)) return undefined;
    // A guest of another organisation is external first of all.
    if (isStranger ? askers.external : isGuest && askers.guests) return undefined;
    for (const group of askers.groups) if ((await directory.group(group)).includes(user)) return undefined;
    return replyTexts.notAnAsker;
  } catch (error) {
    // Slack sends an event again that was not acknowledged, so the message is not lost while Slack cannot be asked.
    if (judgeSlackFailure(error).kind === 'later') throw error;
    return replyTexts.askerNotChecked;
  }
}

/** Tells whether the manifest lets a bot ask. */
export function isAskingBot({ bots }: Askers, ids: readonly (string | undefined)[]): boolean {
  return ids.some((id) => id !== undefined && bots.includes(id));
}
