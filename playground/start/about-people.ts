import { CAST } from '../slack/default-cast.ts';

/** One line for each of the cast, said beside their name where one switches between them. */
export const ABOUT_PEOPLE: Readonly<Record<string, string>> = {
  [CAST.requester]: 'asks for things, and may not sign them',
  [CAST.alice]: 'approver: signs refunds, deployments and deletions',
  [CAST.bruno]: 'approver: the second signature where two are needed',
  [CAST.admin]: 'admin: signs refunds and deletions, hears of trouble with the manifest',
  [CAST.guest]: 'guest: sees cards in #general, may sign nothing',
  [CAST.outsider]: 'from another company, in #partners: may sign nothing',
};
