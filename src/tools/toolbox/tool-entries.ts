import { usesFirst } from '../../policy/condition.ts';
import type { Limit } from '../../policy/limits.ts';
import type { Policy } from '../../policy/policy.ts';
import { matchesGlob } from '../../policy/rules.ts';
import type { Manifest, ToolDeclaration } from '../manifest/manifest.ts';
import { nearestWord } from '../manifest/problem.ts';
import type { ToolLock } from '../manifest/tool-lock.ts';
import { buildEntry, type EntryOptions } from './build-entry.ts';
import { builtInEntries } from './built-in-entries.ts';
import { callerActionEntries } from './caller-action.ts';
import { type ApproveChange, changeEntries } from './policy-change.ts';
import { readFrom, readProblem } from './read-tool.ts';
import { channelProblems, reversibleProblems, textProblems, undoProblems } from './text-problems.ts';
import type { ToolSource } from './tool-source.ts';
import { entriesOverLimit, limitProblem, type RuledEntry, type ToolEntry } from './toolbox.ts';

interface BuildOptions
  extends Pick<EntryOptions, 'secrets'>,
    Partial<Pick<EntryOptions, 'around' | 'readTotals' | 'findGrant' | 'userGroups' | 'profiles'>> {
  readonly lock: ToolLock | undefined;
  readonly approveChange?: ApproveChange | undefined;
}

/**
 * Puts every tool behind its gate. A tool whose name is taken, whose definition is not the locked one, or that a model has no room for,
 * is left out with a problem.
 */
export function buildEntries(
  manifest: Manifest,
  sources: readonly ToolSource[],
  { secrets, lock, around, readTotals, findGrant, userGroups, profiles, approveChange }: BuildOptions,
): { readonly entries: ReadonlyMap<string, RuledEntry>; readonly problems: readonly string[] } {
  const entries = new Map<string, RuledEntry>(
    [
      ...builtInEntries(manifest),
      ...changeEntries(manifest, approveChange),
      ...callerActionEntries(manifest),
    ].map((entry) => [entry.tool.name, entry]),
  );
  const problems: string[] = sources.flatMap((source) => source.problems());
  const options: EntryOptions = {
    secrets,
    around,
    readTotals,
    findGrant,
    userGroups,
    profiles,
    limits: manifest.limits,
    freezes: manifest.freezes,
    firstDays: manifest.agent.firstDays,
    firstInPolicies: [...manifest.policies.values()].some(asksForFirst),
    isLocked: lock !== undefined,
    policyOf: (name) => manifest.policies.get(name),
    timeZoneOf: (policy) => manifest.policies.get(policy)?.timeZone ?? manifest.agent.timeZone,
    read: readFrom((name) => entries.get(name)),
    toolsIn: (channel) => manifest.agent.channels.get(channel)?.tools,
    callers: manifest.callers,
  };
  const owners = nameOwners(sources, lock);
  const unmatched = unmatchedLimits(manifest.limits, sources);
  for (const source of sources) {
    for (const tool of source.tools()) {
      const problem =
        lockProblem(source, tool.name, lock) ??
        clashProblem(source, tool.name, owners) ??
        unlimitedProblem(source, tool.name, unmatched);
      problems.push(...textProblems(source.declaration, tool));
      if (problem !== undefined) problems.push(problem);
      else if (entries.has(tool.name))
        problems.push(`${source.declaration.name}: the name "${tool.name}" is taken; it is left out`);
      else entries.set(tool.name, buildEntry(source, tool, options));
    }
  }
  for (const { declaration, tools } of sources)
    for (const { name } of tools())
      problems.push(
        ...previewProblems(declaration, name, entries),
        ...undoProblems(declaration, name, entries),
        ...reversibleProblems(declaration, name, entries),
      );
  problems.push(...channelProblems(manifest, entries), ...lookupProblems(manifest, entries));
  for (const { match, meant } of unmatched)
    if (meant === undefined) problems.push(`limits: there is no tool "${match}"`);
  const leftOut = new Set([...entriesOverLimit(entries.values())].map(({ tool }) => tool.name));
  for (const source of sources) {
    const names = source.tools().flatMap(({ name }) => (leftOut.delete(name) ? [name] : []));
    if (names.length > 0) problems.push(`${source.declaration.name}: ${limitProblem(names)}`);
  }
  return { entries, problems };
}

/** Describes why a server's tool is not offered although it is listed: nobody has locked its present definition. */
export function lockProblem(
  { declaration, digestOf }: ToolSource,
  tool: string,
  lock: ToolLock | undefined,
): string | undefined {
  if (lock === undefined || declaration.kind !== 'mcp') return undefined;
  const locked = lock.digestOf(declaration.name, tool);
  if (locked !== undefined && locked === digestOf(tool)) return undefined;
  const problem = locked === undefined ? 'is not locked' : 'has changed since it was locked';
  return `${declaration.name}: ${tool}: its definition ${problem}, so it is offered to nobody; check it, then run "countersign manifest lock"`;
}

/** Describes why every call of a server's tool needs approval where nothing is locked: nobody has looked at its present definition. */
export function changeProblem(
  { declaration, hasChanged }: ToolSource,
  tool: string,
  lock: ToolLock | undefined,
): string | undefined {
  if (lock !== undefined || !hasChanged(tool)) return undefined;
  return `${declaration.name}: ${tool}: its definition is new or has changed since the server was first seen, so every call needs approval; check it, then run "countersign manifest lock"`;
}

/**
 * Returns the entry that each name belongs to. The manifest's own come first: the tools of modules and HTTP calls, and their entries' names,
 * also while one cannot be loaded. Among servers it is the first that lists the name, and one that newly lists it comes last.
 */
export function nameOwners(
  sources: readonly ToolSource[],
  lock: ToolLock | undefined,
): ReadonlyMap<string, ToolSource> {
  const owners = new Map<string, ToolSource>();
  const claim = (name: string, source: ToolSource) => owners.set(name, owners.get(name) ?? source);
  const fixed = sources.filter(({ declaration }) => declaration.kind !== 'mcp');
  for (const source of fixed) for (const { name } of source.tools()) claim(name, source);
  for (const source of fixed) if (source.tools().length === 0) claim(source.declaration.name, source);
  const servers = sources.filter((source) => !fixed.includes(source));
  for (const isNew of [false, true])
    for (const source of servers)
      for (const { name } of source.tools())
        if (source.hasChanged(name) === isNew && lockProblem(source, name, lock) === undefined)
          claim(name, source);
  return owners;
}

/** Describes why a tool is not offered whose name belongs to another entry. */
export function clashProblem(
  source: ToolSource,
  tool: string,
  owners: ReadonlyMap<string, ToolSource>,
): string | undefined {
  const owner = owners.get(tool);
  if (owner === undefined || owner === source) return undefined;
  const { name } = source.declaration;
  return `${name}: the name "${tool}" belongs to "${owner.declaration.name}", so the tool of "${name}" is offered to nobody; give it another name or the server a prefix`;
}

/** The name or pattern of a limit that matches no tool, and the tool that it probably means. */
interface UnmatchedLimit {
  readonly match: string;
  readonly meant: string | undefined;
}

/** Lists the limits that match no tool. As long as a source has no tools, a name may be one of its own. */
function unmatchedLimits(limits: readonly Limit[], sources: readonly ToolSource[]): UnmatchedLimit[] {
  const lists = sources.map((source) => source.tools().map(({ name }) => name));
  if (lists.some(({ length }) => length === 0)) return [];
  const names = lists.flat();
  return limits
    .filter(({ match }) => !names.some((name) => matchesGlob(match, name)))
    .map(({ match }) => ({ match, meant: nearestWord(match, names) }));
}

/** Describes why a tool is not offered that a mistyped limit leaves without one. */
function unlimitedProblem(
  { declaration }: ToolSource,
  tool: string,
  unmatched: readonly UnmatchedLimit[],
): string | undefined {
  const match = unmatched.find(({ meant }) => meant === tool)?.match;
  if (match === undefined) return undefined;
  return `${declaration.name}: ${tool}: "limits" has "${match}", which is no tool and may mean this one, so it is offered to nobody; correct the name in "limits"`;
}

/** Tells whether a policy decides by first times. */
function asksForFirst({ risk, grants, groups }: Policy): boolean {
  const expressions = [
    typeof risk === 'object' ? risk.expression : '',
    grants?.when,
    ...groups.map(({ from }) => from),
  ];
  return expressions.some((each) => typeof each === 'string' && usesFirst(each));
}

/** Describes the tools that cannot find an approver, although a policy asks them to; until then nobody can approve under it. */
function lookupProblems({ policies, freezes }: Manifest, entries: ReadonlyMap<string, ToolEntry>): string[] {
  const frozen = freezes.flatMap(({ name, holds }) => {
    const problem =
      holds.kind === 'while' ? readProblem(holds.tool, entries.get(holds.tool), 'a freeze') : undefined;
    return problem === undefined ? [] : [`freezes: ${name}: ${problem}`];
  });
  const ofPolicies = [...policies.values()].flatMap(({ name, groups }) =>
    groups.flatMap(({ from }) => {
      const problem =
        typeof from === 'object' ? readProblem(from.tool, entries.get(from.tool), 'a policy') : undefined;
      return problem === undefined ? [] : [`policies: ${name}: ${problem}`];
    }),
  );
  return [...frozen, ...ofPolicies];
}

/** Describes the problem of a tool's declared preview, for the log and for `doctor`. */
function previewProblems(
  { name: source, cards }: ToolDeclaration,
  tool: string,
  entries: ReadonlyMap<string, ToolEntry>,
): string[] {
  const used = cards.find(({ match }) => matchesGlob(match, tool))?.preview?.tool;
  const problem = used === undefined ? undefined : readProblem(used, entries.get(used));
  return problem === undefined ? [] : [`${source}: ${tool}: ${problem}`];
}
