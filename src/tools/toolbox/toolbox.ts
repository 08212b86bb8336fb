import type { JsonObject, JsonValue } from '../../agent/json.ts';
import type { Tool, ToolHelpers } from '../../agent/tool.ts';
import type { GroupsOf } from '../../policy/condition.ts';
import type { PlannedFreeze } from '../../policy/freezes.ts';
import type { CallUse, Limit, ReadTotals } from '../../policy/limits.ts';
import type { Policy } from '../../policy/policy.ts';
import type { Reversible } from '../../policy/reversible.ts';
import type { ApprovalRule, ApprovalVerdict, Explanation } from '../../policy/rules.ts';
import { type CallerDeclaration, callerNamed } from '../callers.ts';
import type { CallPlace, ReadFirst } from '../gate.ts';
import { type ElicitationDeclaration, MAX_TOOLS, type ToolDeclaration } from '../manifest/manifest.ts';
import type { RequesterServer } from '../mcp/auth/connections.ts';
import type { PreviewSource, ReadTool, UndoSource } from '../presentation/linked-call.ts';
import type { Presentation } from '../presentation/presentation.ts';

/** The channel and the people that the agent works for. */
export interface Place {
  readonly channel: string;
  readonly requester: string;
  /** Everyone else whose words the model reads; a tool is offered only if all of them may use it. */
  readonly others?: readonly string[];
}

/** Limits the attempts of an approved action after a crash. */
interface Execution {
  readonly idempotent: boolean;
  readonly maxAttempts: number;
  readonly retryForMs: number;
  /** Set if its caller runs it itself. */
  readonly elsewhere?: true;
}

/** Runs the function of a tool, possibly with other helpers, so that a caller can watch each run. */
export type AroundRun = (
  name: string,
  input: unknown,
  helpers: ToolHelpers,
  run: (helpers: ToolHelpers) => unknown,
) => Promise<unknown>;

/** One tool with what the manifest says of it. */
export interface ToolEntry {
  /** The tool behind its gate. */
  readonly tool: Tool;
  readonly source: 'built-in' | 'module' | 'code' | 'mcp' | 'http';
  readonly execution: Execution;
  /**
   * Everything beside the tool's own definition that decides what a call does: the entry as written, the filled-in address, and the
   * digest of the module, the version of the program or the digest of the server's definition. It is part of what is approved and goes nowhere else.
   */
  readonly behind: JsonObject;
  /** Applies the rules of the active manifest to a call, for everyone whose words led to it. */
  judge(input: JsonValue, place: CallPlace): ApprovalVerdict;
  /**
   * Judges a call as the gate does, by its limits too, with the person for whom the verdict is that strict, and what each rule said. It is
   * made at a given time, else now. Without totals, limits are left out, and a condition that asks for one cannot be evaluated.
   */
  explain(
    call: CallPlace & { readonly input: JsonValue; readonly now?: Date | undefined },
    readTotals?: ReadTotals,
  ): Promise<Explanation & { readonly uses?: readonly CallUse[] }>;
  /** The limits that its calls count against. */
  readonly limits: readonly Limit[];
  /** The freezes of the manifest that keep its calls from starting; none for a tool that only reads. */
  readonly freezes: readonly PlannedFreeze[];
  /** Tells whether everyone whose words led to a call may use the tool there. */
  allows(place: CallPlace): boolean;
  /** Returns the first reason why they may not; `undefined` if they may. */
  notAllowed(place: CallPlace): NotAllowed | undefined;
  /** The policy whose resolvers are asked about an unknown outcome of a call that needed no approval. */
  readonly resolvedBy?: string | undefined;
  /** Puts its calls into words for people. */
  readonly presentation: Presentation;
  /** Computes what a call would change, if the tool or the manifest can say. */
  readonly preview?: PreviewSource | undefined;
  /** The server at which a call runs in the name of its only requester. */
  readonly runsAsRequester?: RequesterServer | undefined;
  /** The way to take back a call that succeeded, if the tool or the manifest names one. */
  readonly undo?: UndoSource | undefined;
  /** The days on record in which a call is a first one; `undefined` where no rule and no policy asks, and then nobody counts. */
  readonly firstDays?: number | undefined;
  /** Reads the first times of everyone whose words led to a call; `undefined` if nobody asks or can tell now. */
  readonly readFirst?: ReadFirst | undefined;
  /** Whether its calls can be taken back. */
  readonly reversible: Reversible;
  /** The people who are asked when the tool's server needs input. */
  readonly elicitation?: ElicitationDeclaration | undefined;
  /** Whether its server gets answers in an approved call only after the approvers have approved them too; missing without a server. */
  readonly answers?: 'approved' | 'free' | undefined;
}

/** The tools and policies of the manifest that is active now. */
export interface Toolbox {
  /** Returns the tools that the model may use there, behind their gates; at most `MAX_TOOLS`. */
  toolsFor(place: Place): readonly Tool[];
  /** Returns every tool, also those that few may use. */
  tools(): readonly Tool[];
  /** Lists the tools of a tool's server again, so that `find` returns it as it is now, and looks up what the rules ask of these people. */
  refresh(name: string, people: readonly string[]): Promise<void>;
  /** Looks up user groups and the profiles of these people again, if the manifest asks for any, so that tools are offered and judged as they are now. */
  refreshPeople(people: readonly string[]): Promise<void>;
  find(name: string): ToolEntry | undefined;
  /** Runs a tool that only reads; any other is refused. */
  readonly read: ReadTool;
  policy(name: string): Policy | undefined;
  policies(): readonly Policy[];
  /** Returns those who may ask through the door, by name. */
  callers(): ReadonlyMap<string, CallerDeclaration>;
  /** Lists the servers whose calls run in the name of their requesters. */
  requesterServers(): readonly RequesterServer[];
  /** Returns the text that tells the model beforehand which calls need approval, and whose. */
  notice(place: Place): string;
  /** Describes the tools that are missing, and other problems of tools, a sentence each. */
  problems(): readonly string[];
  close(): Promise<void>;
}

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
export function offeredEntries(
  entries: Iterable<RuledEntry>,
  place: Place,
  groupsOf?: GroupsOf,
): RuledEntry[] {
  return entriesIn(entries, place, groupsOf).slice(0, MAX_TOOLS);
}

/** Returns the entries that are over the limit in at least one place. */
export function entriesOverLimit(entries: Iterable<RuledEntry>): ReadonlySet<RuledEntry> {
  const all = [...entries];
  if (all.length <= MAX_TOOLS) return new Set();
  // The empty id stands for every person and channel that no entry names.
  const channels = new Set(['', ...all.flatMap(({ allow }) => allow.channels ?? [])]);
  const people = new Set(['', ...all.flatMap(({ allow }) => allow.people ?? [])]);
  const places = [...channels].flatMap((channel) => [...people].map((requester) => ({ channel, requester })));
  // Somebody may be in every group.
  const groups = all.flatMap(({ allow }) => allow.groups ?? []);
  return new Set(places.flatMap((place) => entriesIn(all, place, () => groups).slice(MAX_TOOLS)));
}

function entriesIn(
  entries: Iterable<RuledEntry>,
  { channel, requester, others = [] }: Place,
  groupsOf?: GroupsOf,
): RuledEntry[] {
  return [...entries].filter(
    ({ allow, isListedIn }) =>
      isListedIn(channel) && disallowed(allow, channel, [requester, ...others], groupsOf) === undefined,
  );
}

/** The reason why a tool may not be used: the channel, a caller that may not call it, or a person whom no list names. */
export type NotAllowed =
  | { readonly why: 'not-in-channel' | 'channel'; readonly channel: string }
  | { readonly why: 'caller' | 'no-caller'; readonly caller: string }
  | { readonly why: 'person' | 'groups-unknown'; readonly person: string };

/** Tells whether a tool may be used in a channel by everyone whose words led to a call; who is in unknown groups may not. */
export function disallowed(
  { channels, people, groups }: RuledEntry['allow'],
  channel: string,
  everyone: readonly string[],
  groupsOf: GroupsOf = () => undefined,
  mayCallerCall: (caller: string) => boolean | undefined = () => false,
): NotAllowed | undefined {
  if (channels !== undefined && !channels.includes(channel)) return { why: 'channel', channel };
  const callers = everyone.flatMap((id) => callerNamed(id) ?? []);
  const caller = callers.find((name) => mayCallerCall(name) !== true);
  if (caller !== undefined)
    return { why: mayCallerCall(caller) === undefined ? 'no-caller' : 'caller', caller };
  if (people === undefined && groups === undefined) return undefined;
  const person = everyone.find(
    (each) =>
      // The lists name people; a caller's owner has to be among them.
      callerNamed(each) === undefined &&
      people?.includes(each) !== true &&
      (groups === undefined || groupsOf(each)?.some((group) => groups.includes(group)) !== true),
  );
  if (person === undefined) return undefined;
  const isUnknown = groups !== undefined && groupsOf(person) === undefined;
  return { why: isUnknown ? 'groups-unknown' : 'person', person };
}

/** Describes which tools are over the limit. */
export function limitProblem(names: readonly string[]): string {
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : '';
  const named = `${names.slice(0, MAX_NAMED).join(', ')}${more}`;
  return `a model takes at most ${MAX_TOOLS} tools at once; left out where there are more: ${named}; remove tools from the manifest, or limit with "allow" where they are used`;
}
