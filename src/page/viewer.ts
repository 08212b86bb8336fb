import { standInsFor } from '../bot/asks/stand-ins.ts';
import type { Directory } from '../bot/slack/directory.ts';
import { type Ineligibility, mayDecide } from '../bot/slack/may-decide.ts';
import type { DocumentStore } from '../store/port/documents.ts';
import type { RequestRecord } from '../store/port/store.ts';
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
  const { requesters, votes, principals, policy } = request;
  if (seesAll || requesters.includes(who)) return true;
  if (votes.some((vote) => vote.who === who || vote.standsFor === who)) return true;
  const allowed = [...principals, ...policy.resolvers];
  if ((await mayDecide(context.directory, who, allowed, policy.excluded)).eligible) return true;
  return (await standInsFor(context, request)).some((standIn) => standIn.who === who);
}

/** Tells whether a person may see what the log says of a request: who asked for it, who decided it, and who sees all. */
export function tookPart({ who, seesAll }: Viewer, entry: RequestEntry): boolean {
  return seesAll || peopleOf(entry).includes(who);
}
