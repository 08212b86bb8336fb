import { withTimeout } from '../agent/util/abort.ts';
import { type Directory, isSlackPerson } from '../bot/slack/directory.ts';
import { showLine } from '../bot/views/texts/show-text.ts';
import { callerId, callerNamed } from '../tools/callers.ts';
import type { Manifest } from '../tools/manifest/manifest.ts';
import { alike, distinctNames } from './names.ts';
import type { Names } from './protocol.ts';
import type { RequestEntry, RequestIndex } from './request-index.ts';
import { pageTexts } from './texts.ts';
import { tookPart, type Viewer } from './viewer.ts';

interface PeopleContext {
  readonly directory: Directory;
  readonly index: RequestIndex;
  /** The manifest that is active. */
  readonly manifest: () => Pick<Manifest, 'policies' | 'agent' | 'callers'>;
}

/** Lists people, those of the newest requests first. */
export function newestPeople(entries: readonly RequestEntry[]): string[] {
  const people = new Set<string>();
  for (const { requesters, votes } of entries.toReversed()) {
    for (const id of requesters) people.add(id);
    for (const { who } of votes) people.add(who);
  }
  return [...people];
}

/** Names the people to choose from, by id. */
export async function peopleFor(context: PeopleContext, viewer: Viewer): Promise<Names> {
  const { index, directory, manifest } = context;
  const entries = (await index.all()).filter((entry) => tookPart(viewer, entry));
  const { policies, agent, callers } = manifest();
  const named = [...policies.values()].flatMap(({ approvers }) => approvers);
  const members = viewer.seesAll ? await directory.relaxed().peopleOf([...agent.admins, ...named]) : [];
  const owners = viewer.seesAll ? [...callers.values()].map(({ owner }) => owner) : [];
  const ids = [...new Set([viewer.who, ...newestPeople(entries), ...members, ...owners])];
  const { names } = await namesOf(context, ids.filter(isSlackPerson));
  const asking = viewer.seesAll ? [...callers.keys()].map((name) => [callerId(name), name] as const) : [];
  return { ...names, ...Object.fromEntries(asking) };
}

/** Finds a person by id or by name, or a caller, so that nothing is said about somebody who does not exist. */
export async function findPerson(
  { viewer, ...context }: PeopleContext & { readonly viewer: Viewer },
  given: string,
): Promise<{ readonly who: string } | { readonly problem: string }> {
  const problem = pageTexts.noPerson(showLine(given));
  const { callers } = context.manifest();
  const caller = callerNamed(given);
  if (caller !== undefined) return callers.has(caller) ? { who: given } : { problem };
  if (isSlackPerson(given)) {
    const member = await context.directory.member(given).catch(() => undefined);
    return member === undefined || member.isBot ? { problem } : { who: given };
  }
  const people = Object.entries(await peopleFor(context, viewer));
  const [only, second] = people.filter(([, name]) => alike(name) === alike(given));
  if (second !== undefined) return { problem: pageTexts.severalPeople(showLine(given)) };
  return only === undefined ? { problem } : { who: only[0] };
}

/** A view waits no longer than this for names; a look-up goes on beside it, so that the next view has them. */
const NAMES_MS = 500;
/** The most names that one view looks up. */
const MOST_NAMES = 500;

/** Looks names up, once each; an id without one stays an id. `missing` counts those that Slack did not tell in time. */
export async function namesOf(
  { directory }: Pick<PeopleContext, 'directory'>,
  ids: readonly string[],
): Promise<{ readonly names: Names; readonly missing: number }> {
  const relaxed = directory.relaxed();
  const distinct = [...new Set(ids)];
  const wanted = distinct.slice(0, MOST_NAMES);
  let missing = distinct.length - wanted.length;
  const found = await Promise.all(
    wanted.map(async (id) => {
      const told = await withTimeout(
        relaxed.nameOf(id).then(
          (name) => ({ name }),
          () => undefined,
        ),
        NAMES_MS,
      );
      if (told === undefined) missing += 1;
      return told?.name === undefined ? [] : [[id, showLine(told.name)] as const];
    }),
  );
  return { names: distinctNames(found.flat()), missing };
}
