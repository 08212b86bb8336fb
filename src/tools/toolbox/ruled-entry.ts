import type { ApprovalRule } from '../gate/approval-rules.ts';
import type { ToolDeclaration } from '../manifest/manifest.ts';
import { MAX_TOOLS, type Place, type ToolEntry } from './toolbox.ts';

/** More names than this do not help in a log. */
const MAX_NAMED = 10;

/** An entry with its approval rules and the places where it may be used. */
export interface RuledEntry extends ToolEntry {
  readonly rules: readonly ApprovalRule[];
  /** Tells whether the manifest lets the tool be used in a channel. */
  isListedIn(channel: string): boolean;
  readonly allow: ToolDeclaration['allow'];
}

/** Returns the entries that the model is offered in a place: the first that may be used there, at most `MAX_TOOLS`. */
export function offeredEntries(entries: Iterable<RuledEntry>, place: Place): RuledEntry[] {
  return entriesIn(entries, place).slice(0, MAX_TOOLS);
}

/** Returns the entries that are over the limit in at least one place. */
export function entriesOverLimit(entries: Iterable<RuledEntry>): ReadonlySet<RuledEntry> {
  const all = [...entries];
  if (all.length <= MAX_TOOLS) return new Set();
  // The empty id stands for every person and channel that no entry names.
  const channels = new Set(['', ...all.flatMap(({ allow }) => allow.channels ?? [])]);
  const people = new Set(['', ...all.flatMap(({ allow }) => allow.people ?? [])]);
  const places = [...channels].flatMap((channel) => [...people].map((requester) => ({ channel, requester })));
  return new Set(places.flatMap((place) => entriesIn(all, place).slice(MAX_TOOLS)));
}

function entriesIn(entries: Iterable<RuledEntry>, { channel, requester, others = [] }: Place): RuledEntry[] {
  return [...entries].filter(
    ({ allow, isListedIn }) => isListedIn(channel) && isAllowed(allow, channel, [requester, ...others]),
  );
}

/** Tells whether a tool may be used in a channel by everyone whose words led to a call. */
export function isAllowed(
  { channels, people }: RuledEntry['allow'],
  channel: string,
  everyone: readonly string[],
): boolean {
  if (channels !== undefined && !channels.includes(channel)) return false;
  return people === undefined || everyone.every((person) => people.includes(person));
}

/** Describes which tools are over the limit. */
export function limitProblem(names: readonly string[]): string {
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : '';
  const named = `${names.slice(0, MAX_NAMED).join(', ')}${more}`;
  return `a model takes at most ${MAX_TOOLS} tools at once; left out where there are more: ${named}; remove tools from the manifest, or limit with "allow" where they are used`;
}
