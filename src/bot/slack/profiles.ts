import type { Logger } from 'pino';
import type { Profile } from '../../policy/condition.ts';
import type { Profiles } from '../../tools/gate.ts';
import { type Directory, isSlackPerson } from './directory.ts';

/** After so long without an answer of Slack nothing is known of a person. */
const KNOWN_MS = 60_000;
/** The most people whose profiles are kept; the oldest answers leave first. */
const MAX_KEPT = 1_000;

interface Kept {
  readonly at: number;
  readonly profile: Profile;
}

/** Keeps the profiles of people as Slack told them last. Without the scope for addresses nobody has one. */
export function workspaceProfiles({
  directory,
  logger,
}: {
  readonly directory: Pick<Directory, 'member'>;
  readonly logger: Pick<Logger, 'warn'>;
}): Profiles {
  const kept = new Map<string, Kept>();
  const lookUp = async (person: string): Promise<void> => {
    try {
      const { name, email } = await directory.member(person);
      kept.delete(person);
      kept.set(person, { at: Date.now(), profile: { name, email } });
      for (const oldest of kept.keys()) {
        if (kept.size <= MAX_KEPT) break;
        kept.delete(oldest);
      }
    } catch (err) {
      logger.warn({ err, person }, 'profile not looked up');
    }
  };
  return {
    async refresh(people) {
      await Promise.all([...new Set(people)].filter(isSlackPerson).map(lookUp));
    },
    of(person) {
      const found = kept.get(person);
      return found === undefined || Date.now() - found.at > KNOWN_MS ? undefined : found.profile;
    },
  };
}
