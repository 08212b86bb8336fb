import type { Directory } from '../bot/slack/directory.ts';
import { type Ineligibility, mayDecide } from '../engine/asks/may-decide.ts';
import { rulesOf, standInsFor } from '../engine/asks/stand-ins.ts';
import { ANYONE } from '../policy/policy.ts';
import type { DocumentStore } from '../store/port/documents.ts';
import type { RequestRecord } from '../store/port/request-record.ts';
import { peopleOf, type RequestEntry } from './request-index.ts';

/** A signed-in person, as they are in Slack now. */
export interface Viewer {
  readonly who: string;
  readonly name: string;
  readonly seesAll: boolean;
}

/** Checks a signed-in person in Slack again, so that one who left or became a guest sees nothing more. */
export async function viewerOf(
  directory: Directory,
  who: string,
  { admins, auditors }: { readonly admins: readonly string[]; readonly auditors: readonly string[] },
): Promise<Viewer | { readonly problem: Ineligibility }> {
  const permission = await mayDecide(directory, who, [who]);
  if (!permission.eligible) return { problem: permission.why };
  const { name } = await directory.member(who);
  const seesAll = admins.includes(who) || (await directory.isAmong(who, auditors).catch(() => false));
  return { who, name, seesAll };
}

/** Tells whether a person may see a request: who asked for it, who decided or may decide it, and who sees all. */
export async function maySee(
  context: { readonly store: Pick<DocumentStore, 'readDocument'>; readonly directory: Directory },
  { who, seesAll }: Viewer,
  request: RequestRecord,
): Promise<boolean> {
  const { requesters, votes, principals, policy, by } = request;
  if (seesAll || requesters.includes(who) || by === who) return true;
  if (votes.some((vote) => vote.who === who || vote.standsFor === who)) return true;
  // What anyone of a channel may answer is for those who are there, which its id does not say of anybody.
  const allowed = [...principals, ...policy.resolvers].filter((id) => id !== ANYONE);
  if ((await mayDecide(context.directory, who, allowed, policy.excluded)).eligible) return true;
  return (await standInsFor(context, rulesOf(request))).some((standIn) => standIn.who === who);
}

/** Tells whether a person may see what the log says of a request: who asked for it, who decided it, and who sees all. */
export function tookPart({ who, seesAll }: Viewer, entry: RequestEntry): boolean {
  return seesAll || peopleOf(entry).includes(who);
}
