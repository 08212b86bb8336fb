import type { Askers } from '../../tools/manifest/manifest.ts';
import type { Directory } from '../ports.ts';

/** The reason why a person may not give the bot a task. */
export type AskerProblem = 'not-an-asker' | 'not-checked';

/** Checks whether a person may give the bot a task; returns why not. Throws if that can be checked later. */
export async function askerProblem(
  directory: Pick<Directory, 'member' | 'group' | 'mayAskLater'>,
  askers: Askers,
  { user, channel }: { readonly user: string; readonly channel: string },
): Promise<AskerProblem | undefined> {
  try {
    const { isBot, isGuest, isStranger, isDeactivated } = await directory.member(user);
    if (isDeactivated) return 'not-an-asker';
    const isMember = !isGuest && !isStranger;
    // The listener lets only bots through that the manifest names.
    if (isBot || (isMember && askers.members)) return undefined;
    if (askers.people.includes(user) || askers.channels.includes(channel)) return undefined;
    // A guest of another organisation is external first of all.
    if (isStranger ? askers.external : isGuest && askers.guests) return undefined;
    for (const group of askers.groups) if ((await directory.group(group)).includes(user)) return undefined;
    return 'not-an-asker';
  } catch (error) {
    // An event that was not acknowledged is sent again, so the message is not lost meanwhile.
    if (directory.mayAskLater(error)) throw error;
    return 'not-checked';
  }
}

/** Tells whether the manifest lets a bot ask. */
export function isAskingBot({ bots }: Askers, ids: readonly (string | undefined)[]): boolean {
  return ids.some((id) => id !== undefined && bots.includes(id));
}
