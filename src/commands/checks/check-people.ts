import { readFile, writeFile } from 'node:fs/promises';
import { z } from 'zod';
import { pointerTo } from '../../agent/json.ts';
import { type ApproverGroup, fillGroups, type Policy } from '../../policy/policy.ts';
import { groupsAskedFor } from '../../tools/manifest/asked-groups.ts';
import type { Manifest } from '../../tools/manifest/manifest.ts';
import { callSlack } from '../shared/call-slack.ts';
import { type Finding, failed, firstLineOf, notChecked, ok, warning } from './finding.ts';
import { type LoadedManifest, type PlacedProblem, toFinding } from './inspect-manifest.ts';
import { findWrongNames, withNames } from './names-beside-ids.ts';

const User = z.object({
  user: z.object({
    name: z.string().default(''),
    real_name: z.string().optional(),
    team_id: z.string().optional(),
    deleted: z.boolean().default(false),
    is_bot: z.boolean().default(false),
    is_restricted: z.boolean().default(false),
    is_ultra_restricted: z.boolean().default(false),
    is_stranger: z.boolean().default(false),
  }),
});
const Groups = z.object({
  usergroups: z.array(
    z.object({
      id: z.string(),
      handle: z.string().default(''),
      date_delete: z.number().default(0),
      users: z.array(z.string()).default([]),
    }),
  ),
});
const Channel = z.object({
  channel: z.object({ is_archived: z.boolean().default(false), is_member: z.boolean().default(false) }),
});
const Identity = z.object({ team_id: z.string() });
const READ_SCOPES = ['channels:read', 'groups:read'];

/** Checks that every person, user group, bot and channel of the manifest exists, is active, and can do what the manifest wants of it. */
export async function checkPeople(
  environment: NodeJS.ProcessEnv,
  loaded: LoadedManifest | undefined,
  { fixesNames = false }: { readonly fixesNames?: boolean } = {},
): Promise<Finding[]> {
  const check = 'slack ids';
  const { SLACK_BOT_TOKEN: token = '' } = environment;
  if (loaded === undefined) return [notChecked(check, 'there is no valid manifest to take them from')];
  if (token === '') return [notChecked(check, 'SLACK_BOT_TOKEN is not set')];
  try {
    const workspace = await openWorkspace(token, environment);
    if (workspace === undefined) return [notChecked(check, 'the token is rejected')];
    const references = referencesIn(loaded.manifest);
    const problems = await Promise.all(references.map((reference) => inspect(reference, workspace)));
    const quorums = await Promise.all(
      quorumsIn(loaded.manifest).map((quorum) => inspectQuorum(quorum, workspace)),
    );
    const found = [...problems.flat(), ...quorums.flat()];
    const names = await checkNames(references, workspace, loaded, fixesNames);
    const { refused } = workspace;
    const unchecked = [...refused].map((method) =>
      warning(check, `not all could be checked: the app lacks the scope for ${method}`, {
        fix: 'add the scopes that the manifest needs, and install the app again',
      }),
    );
    if (found.length + unchecked.length === 0) {
      const { length } = references;
      const message =
        length === 1 ? 'the id in the manifest is valid' : `all ${length} ids in the manifest are valid`;
      return [ok(check, message), ...names];
    }
    return [...found.map((problem) => toFinding(check, problem, loaded)), ...unchecked, ...names];
  } catch (error) {
    return [failed(check, firstLineOf(error))];
  }
}

export type Workspace = NonNullable<Awaited<ReturnType<typeof openWorkspace>>>;

/** Looks things up in Slack, each once. */
export async function openWorkspace(token: string, environment: NodeJS.ProcessEnv) {
  const answers = new Map<string, ReturnType<typeof callSlack>>();
  const refused = new Set<string>();
  const ask = (method: string, args: Readonly<Record<string, string>> = {}) => {
    const key = JSON.stringify([method, args]);
    const known = answers.get(key) ?? callSlack(method, token, args, environment);
    answers.set(key, known);
    return known.then((answer) => {
      if (!answer.ok && answer.error === 'missing_scope') refused.add(method);
      return answer;
    });
  };
  const { ok: isOk, body, scopes } = await ask('auth.test');
  if (!isOk) return undefined;
  return { ask, ownTeam: Identity.parse(body).team_id, scopes, refused };
}

/** Compares the names beside ids with those in Slack, or writes them there. */
async function checkNames(
  references: readonly Reference[],
  workspace: Workspace,
  { locate }: LoadedManifest,
  isFixing: boolean,
): Promise<Finding[]> {
  const check = 'names beside ids';
  const placed = references.map(({ id, pointer }) => ({
    id,
    pointer,
    place: locate({ pointer, at: 'value', message: '' }),
  }));
  const [first] = placed;
  if (first === undefined) return [];
  const { file } = first.place;
  const text = await readFile(file, 'utf8');
  const lines = text.split('\n');
  const named = await Promise.all(
    placed
      // An id may also be in a condition, or come from the environment.
      .filter(({ id, place }) => lines[place.line - 1]?.includes(id) === true)
      .map(async ({ id, pointer, place: { line } }) => {
        const name = await nameOf(id, workspace);
        return name === undefined ? [] : [{ id, pointer, line, name }];
      }),
  );
  const ids = named.flat();
  const wrong = findWrongNames(text, ids);
  if (!isFixing)
    return wrong.map(({ id, written, name, line }) => {
      const { pointer = '' } = ids.find((each) => each.id === id && each.line === line) ?? {};
      const message = `${id} is ${name}, and the comment says ${written}`;
      return toFinding(check, { pointer, severity: 'warning', message, fix: FIX_NAMES }, { locate });
    });
  const fixed = withNames(text, ids);
  if (fixed !== text) await writeFile(file, fixed);
  return [ok(check, fixed === text ? 'all are there' : `written into ${file}`)];
}

const FIX_NAMES = 'name the right one, or correct the comment: countersign doctor --fix-names';

/** Returns the name of a person or a user group in Slack, on one line; `undefined` if Slack does not tell it. */
export async function nameOf(id: string, workspace: Workspace): Promise<string | undefined> {
  const name = /^[UW]/.test(id)
    ? await workspace.ask('users.info', { user: id }).then(({ body }) => {
        const { data } = User.safeParse(body);
        return data?.user.real_name ?? data?.user.name;
      })
    : id.startsWith('S')
      ? await findGroup(id, workspace).then(({ group }) => group && `@${group.handle}`)
      : undefined;
  return name?.replace(/[^\P{C}]+/gu, ' ').trim() || undefined;
}

function inspect(reference: Reference, workspace: Workspace): Promise<PlacedProblem[]> {
  const { id } = reference;
  if (/^[CG]/.test(id)) return inspectChannel(reference, workspace);
  if (id.startsWith('S')) return inspectGroup(reference, workspace);
  return id.startsWith('B') ? inspectBot(reference, workspace) : inspectPerson(reference, workspace);
}

async function inspectPerson(reference: Reference, workspace: Workspace): Promise<PlacedProblem[]> {
  const { id, role } = reference;
  const { ok: isOk, error, body } = await workspace.ask('users.info', { user: id });
  if (!isOk) {
    if (error === 'missing_scope') return [];
    return [problem(reference, `there is nobody with the id ${id} in the workspace (${error})`, COPY_PERSON)];
  }
  const { user } = User.parse(body);
  if (user.deleted) return [problem(reference, `the account of ${id} is deactivated`, 'name somebody else')];
  if (user.is_bot !== (role === 'bot'))
    return [problem(reference, user.is_bot ? `${id} is a bot` : `${id} is not a bot`, 'name another')];
  if (role !== 'approver' || isEligible(user, workspace)) return [];
  const kind = user.is_restricted || user.is_ultra_restricted ? 'a guest' : 'of another workspace';
  return [problem(reference, `${id} is ${kind} and cannot approve`, 'name a full member')];
}

const COPY_PERSON = 'copy the member ID from the profile in Slack (⋮, "Copy member ID")';

function isEligible(user: z.infer<typeof User>['user'], { ownTeam }: Workspace): boolean {
  const isOwn = !user.is_stranger && (user.team_id === undefined || user.team_id === ownTeam);
  return isOwn && !user.deleted && !user.is_bot && !user.is_restricted && !user.is_ultra_restricted;
}

async function inspectBot(reference: Reference, { ask }: Workspace): Promise<PlacedProblem[]> {
  const { ok: isOk, error } = await ask('bots.info', { bot: reference.id });
  if (isOk || error === 'missing_scope') return [];
  return [problem(reference, `there is no bot ${reference.id} (${error})`, 'name its user (U…) instead')];
}

async function findGroup(id: string, { ask }: Workspace) {
  const {
    ok: isOk,
    error,
    body,
  } = await ask('usergroups.list', {
    include_users: 'true',
    include_disabled: 'true',
  });
  if (!isOk) return { group: undefined, error };
  return { group: Groups.parse(body).usergroups.find((group) => group.id === id), error: 'no_such_group' };
}

async function inspectGroup(reference: Reference, workspace: Workspace): Promise<PlacedProblem[]> {
  const { id } = reference;
  const { group, error } = await findGroup(id, workspace);
  // The scopes are a finding of their own.
  if (group === undefined && error === 'missing_scope') return [];
  if (group === undefined) return [problem(reference, `there is no user group ${id} (${error})`, COPY_GROUP)];
  if (group.date_delete !== 0)
    return [problem(reference, `the user group ${id} is disabled`, 'enable it, or name another')];
  return group.users.length > 0
    ? []
    : [problem(reference, `nobody is in the user group ${id}`, 'add people')];
}

const COPY_GROUP = 'open "People" and "User groups" in Slack, and copy the group ID';

/** Checks that enough people can approve to reach the quorum. People of the call are known only then. */
async function inspectQuorum(
  { pointer, escalate, excluded, groups: all }: Quorum,
  workspace: Workspace,
): Promise<PlacedProblem[]> {
  const groups = all.filter(({ from }) => from === undefined);
  const quorum = groups.reduce((sum, group) => sum + group.quorum, 0);
  const barred = await peopleOf(excluded, workspace);
  if (barred === undefined) return [];
  const counted = { groups, quorum, barred };
  const filled = await filledBy(counted, escalate?.to ?? [], workspace);
  if (filled === undefined) return [];
  if (filled < quorum) {
    const message = `${quorum} must approve, but only ${filled} of the approvers can`;
    return [{ pointer, severity: 'error', message, fix: 'name more approvers, or lower the quorum' }];
  }
  const before = escalate === undefined ? filled : await filledBy(counted, [], workspace);
  if (before === undefined || before >= quorum) return [];
  const message = `${quorum} must approve, but only ${before} can before the escalation`;
  return [{ pointer, severity: 'warning', message, fix: 'name more approvers, or lower the quorum' }];
}

/** Counts the places of groups that people can fill, with others who may approve for any of them; `undefined` if nobody can tell. */
async function filledBy(
  { groups, quorum, barred }: Pick<Quorum, 'groups'> & { quorum: number; barred: ReadonlySet<string> },
  others: readonly string[],
  workspace: Workspace,
): Promise<number | undefined> {
  const members = new Map<string, number[]>();
  for (const [index, { any }] of groups.entries()) {
    const people = await peopleOf([...any, ...others], workspace);
    if (people === undefined) return undefined;
    let found = 0;
    for (const person of people) {
      // A group with as many people as all places together can always fill its own.
      if (found >= quorum) break;
      const { body, error } = await workspace.ask('users.info', { user: person });
      if (error === 'missing_scope') return undefined;
      const { data } = User.safeParse(body);
      if (data === undefined || !isEligible(data.user, workspace) || barred.has(person)) continue;
      members.set(person, [...(members.get(person) ?? []), index + 1]);
      found += 1;
    }
  }
  return fillGroups(
    groups.map((group) => group.quorum),
    [...members].map(([who, own]) => ({ who, groups: own })),
  ).flat().length;
}

/** Lists the people behind ids of people and user groups; `undefined` if the app may not read groups. */
export async function peopleOf(
  ids: readonly string[],
  workspace: Workspace,
): Promise<ReadonlySet<string> | undefined> {
  const people = new Set<string>();
  for (const id of ids) {
    const found = id.startsWith('S') ? await findGroup(id, workspace) : undefined;
    if (found?.error === 'missing_scope') return undefined;
    const isActive = found?.group !== undefined && found.group.date_delete === 0;
    for (const person of found === undefined ? [id] : isActive ? (found.group?.users ?? []) : [])
      people.add(person);
  }
  return people;
}

async function inspectChannel(reference: Reference, { ask, scopes }: Workspace): Promise<PlacedProblem[]> {
  const { id } = reference;
  const mayRead = READ_SCOPES.some((scope) => scopes.includes(scope));
  // Without a scope to read channels, the history tells whether the bot is in one.
  const {
    ok: isOk,
    error,
    body,
  } = mayRead
    ? await ask('conversations.info', { channel: id })
    : await ask('conversations.history', { channel: id, limit: '1' });
  if (error === 'missing_scope' && !isOk) return [];
  const { data } = Channel.safeParse(body);
  if (isOk && data?.channel.is_archived)
    return [problem(reference, `the channel ${id} is archived`, 'name another')];
  const isOutside = mayRead ? isOk && data?.channel.is_member === false : error === 'not_in_channel';
  if (isOutside) return [problem(reference, `the bot is not in the channel ${id}`, INVITE)];
  if (isOk) return [];
  const message = `there is no channel ${id}, or it is private and the bot is not in it (${error})`;
  return [problem(reference, message, `copy the channel ID from "About" of the channel, and ${INVITE}`)];
}

const INVITE = 'invite the bot there: /invite @countersign';

function problem({ pointer, role }: Reference, message: string, fix: string): PlacedProblem {
  // A channel of a list is of no use to the bot before it is invited, but nothing fails.
  return { pointer, severity: role === 'channel' && fix === INVITE ? 'warning' : 'error', message, fix };
}

/** The role of an id: it decides which kinds of accounts fit. */
type Role = 'approver' | 'admin' | 'person' | 'bot' | 'posting' | 'channel';

/** An id of the manifest, with its place. */
export interface Reference {
  readonly id: string;
  readonly pointer: string;
  readonly role: Role;
}

/** Lists every id of people, user groups, bots and channels in a manifest. */
export function referencesIn({ agent, policies, tools, callers, delegations, page }: Manifest): Reference[] {
  return [
    ...list('/agent/admins', agent.admins, 'admin'),
    ...(agent.unfreeze.approvers === agent.admins
      ? []
      : list('/agent/unfreeze/approvers', agent.unfreeze.approvers, 'approver')),
    ...changeReferences(agent.policyChanges),
    ...list('/page/auditors', page?.auditors, 'approver'),
    ...list('/agent/askers/people', agent.askers.people, 'person'),
    ...list('/agent/askers/groups', agent.askers.groups, 'person'),
    ...list('/agent/askers/channels', agent.askers.channels, 'channel'),
    ...list('/agent/askers/bots', agent.askers.bots, 'bot'),
    ...[...agent.channels.keys()].map((id) => ({
      id,
      pointer: pointerTo('/agent/channels', id),
      role: 'channel' as const,
    })),
    ...[...policies.values()].flatMap((policy) => {
      const pointer = pointerTo('/policies', policy.name);
      const resolvers = policy.resolvers === policy.approvers ? [] : policy.resolvers;
      return [
        ...policy.groups.flatMap((group) => list(`${pointer}${group.pointer}`, group.any, 'approver')),
        ...list(`${pointer}/approvers/not`, policy.excluded, 'person'),
        ...list(`${pointer}/escalate/to`, policy.escalate?.to, 'approver'),
        ...list(`${pointer}/resolvers`, resolvers, 'approver'),
        ...list(`${pointer}/notify/announce`, policy.announce, 'posting'),
      ];
    }),
    ...tools.flatMap(({ name, allow }) => {
      const pointer = pointerTo('/tools', name);
      return [
        ...list(`${pointer}/allow/channels`, allow.channels, 'channel'),
        ...list(`${pointer}/allow/people`, allow.people, 'person'),
      ];
    }),
    ...[...callers.values()].flatMap(({ name, owner, channel }): Reference[] => {
      const pointer = pointerTo('/callers', name);
      return [
        { id: owner, pointer: `${pointer}/owner`, role: 'person' },
        { id: channel, pointer: `${pointer}/channel`, role: 'posting' },
      ];
    }),
    ...delegations.flatMap(({ from, to }, index): Reference[] => [
      { id: from, pointer: `/delegations/${index}/from`, role: 'person' },
      { id: to, pointer: `/delegations/${index}/to`, role: 'approver' },
    ]),
    ...groupsAskedFor({ tools }).map((group) => ({ ...group, role: 'person' as const })),
  ];
}

function list(pointer: string, ids: readonly string[] | undefined, role: Role): Reference[] {
  return (ids ?? []).map((id, index) => ({ id, pointer: pointerTo(pointer, index), role }));
}

function changeReferences(changes: Manifest['agent']['policyChanges']): Reference[] {
  if (changes === undefined) return [];
  const pointer = '/agent/policy_changes';
  return [
    ...list(`${pointer}/approvers`, changes.policy.approvers, 'approver'),
    { id: changes.channel, pointer: `${pointer}/channel`, role: 'posting' },
  ];
}

/** A number of people who must agree, with its place. */
interface Quorum extends Pick<Policy, 'excluded' | 'escalate'> {
  readonly pointer: string;
  readonly groups: readonly Pick<ApproverGroup, 'any' | 'from' | 'quorum'>[];
}

/** Lists every quorum of a manifest. */
function quorumsIn({ agent, policies }: Manifest): Quorum[] {
  const { unfreeze, policyChanges } = agent;
  const { approvers: any, quorum } = unfreeze;
  const ofPolicy = (pointer: string, { groups, excluded, escalate }: Policy): Quorum => ({
    pointer: `${pointer}/${groups.length > 1 ? 'approvers' : 'quorum'}`,
    groups,
    excluded,
    escalate,
  });
  return [
    ...[...policies.values()].map((policy) => ofPolicy(pointerTo('/policies', policy.name), policy)),
    ...(policyChanges === undefined ? [] : [ofPolicy('/agent/policy_changes', policyChanges.policy)]),
    // Without a rule of its own one of the admins is enough.
    ...(any === agent.admins
      ? []
      : [
          {
            pointer: '/agent/unfreeze/quorum',
            groups: [{ any, from: undefined, quorum }],
            excluded: [],
            escalate: undefined,
          },
        ]),
  ];
}
