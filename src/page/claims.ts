import { z } from 'zod';
import type { Directory } from '../bot/slack/directory.ts';
import type { Ineligibility } from '../engine/asks/may-decide.ts';

export const SLACK_ISSUER = 'https://slack.com';

/** The reasons why nobody was signed in. */
export type SignInProblem =
  | 'not-begun'
  | 'used'
  | 'refused'
  | 'not-verified'
  | 'other-workspace'
  | 'unknown-person'
  | Ineligibility;

const SlackClaims = z.object({
  'https://slack.com/user_id': z.string(),
  'https://slack.com/team_id': z.string(),
});
const CompanyClaims = z.object({ email: z.email(), email_verified: z.literal(true) });

/** Finds the person of the bot's own workspace whom verified claims name: by Slack's own claims, or by an email that the company has verified. */
export async function personInClaims(
  directory: Pick<Directory, 'ownTeam' | 'personWithEmail'>,
  claims: object,
  { isSlack }: { readonly isSlack: boolean },
): Promise<{ readonly who: string } | { readonly problem: SignInProblem }> {
  if (isSlack) {
    const { data } = SlackClaims.safeParse(claims);
    if (data === undefined) return { problem: 'refused' };
    const { 'https://slack.com/user_id': who, 'https://slack.com/team_id': team } = data;
    return team === (await directory.ownTeam()) ? { who } : { problem: 'other-workspace' };
  }
  const { data } = CompanyClaims.safeParse(claims);
  if (data === undefined) return { problem: 'not-verified' };
  const who = await directory.personWithEmail(data.email);
  return who === undefined ? { problem: 'unknown-person' } : { who };
}
