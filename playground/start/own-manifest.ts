import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { referencesIn } from '../../src/commands/checks/check-people.ts';
import { withToolbox } from '../../src/commands/shared/with-toolbox.ts';
import type { Manifest } from '../../src/tools/manifest/manifest.ts';
import type { PersonNotes } from '../page-server/entities/people.ts';
import { exampleCall } from '../scripted-model/example-call.ts';
import { addChannel, addUser, addUserGroup } from '../slack/build-state.ts';
import { CAST, CHANNELS } from '../slack/default-cast.ts';
import type { WorkspaceState } from '../slack/state/workspace-state.ts';

const SHOP_REFUND = fileURLToPath(new URL('../../examples/shop/tools/refund-order.ts', import.meta.url));

/** True for a manifest with the shop's own refunds, which the tour is about; a tool of that name alone is not enough. */
export function isShop({ tools }: Manifest, file: string): boolean {
  return tools.some((tool) => tool.kind === 'module' && resolve(dirname(file), tool.module) === SHOP_REFUND);
}

/** Loads the tools as the bot does, and writes a message that calls each; a tool that cannot be loaded is one line of the log. */
export async function readExampleCalls(
  file: string,
  env: NodeJS.ProcessEnv,
  log: (line: string) => void,
): Promise<readonly string[]> {
  return await withToolbox(file, env, async (toolbox) => {
    for (const problem of toolbox.problems()) log(`warning: ${problem}`);
    return toolbox
      .tools()
      .filter(({ name }) => toolbox.find(name)?.source !== 'built-in')
      .map(({ name, inputSchema }) => exampleCall({ name, schema: inputSchema.jsonSchema }));
  });
}

/** The names of people who are in the workspace only because a manifest names their ids. */
const MORE_PEOPLE = ['Cleo Sanz', 'Dario Lang', 'Edda Voss', 'Farid Nasser', 'Greta Holm', 'Hugo Brandt'];

/** Adds the people, groups and channels that a manifest names and the workspace does not have, and returns their ids. */
export function addNamed(state: WorkspaceState, manifest: Manifest): readonly string[] {
  const named = [...new Set(referencesIn(manifest).map(({ id }) => id))];
  const missing = named.filter(
    (id) => !state.users.has(id) && !state.userGroups.has(id) && !state.channels.has(id),
  );
  const people = missing.filter((id) => id.startsWith('U'));
  for (const [index, id] of people.entries()) {
    const real_name = MORE_PEOPLE[index] ?? `Person ${index + 1}`;
    addUser(state, { id, name: real_name.toLowerCase().replaceAll(' ', '.'), real_name });
    state.channels.get(CHANNELS.general)?.members.add(id);
  }
  for (const id of missing.filter((id) => id.startsWith('S')))
    addUserGroup(state, { id, handle: id.toLowerCase(), name: id, users: [CAST.alice, CAST.bruno] });
  const members = [...state.users.values()].filter(({ is_bot }) => !is_bot).map(({ id }) => id);
  const channels = missing.filter((id) => id.startsWith('C'));
  for (const id of channels) addChannel(state, { id, name: id.toLowerCase(), members: ['bot', ...members] });
  if (missing.length > 0) state.changed();
  return missing;
}

/** Lists who and what a manifest can name, with the ids, and what was added because it does. */
export function describeWorkspace(state: WorkspaceState, added: readonly string[]): readonly string[] {
  const people = [...state.users.values()].filter(({ is_bot }) => !is_bot);
  const groups = [...state.userGroups.values()];
  const channels = [...state.channels.values()].filter(
    ({ kind, is_archived }) => kind !== 'im' && !is_archived,
  );
  const names = new Map([
    ...people.map(({ id, real_name }) => [id, `${real_name} ${id}`] as const),
    ...groups.map(({ id, handle }) => [id, `@${handle} ${id}`] as const),
    ...channels.map(({ id, name }) => [id, `#${name} ${id}`] as const),
  ]);
  const namesOf = (ids: readonly { readonly id: string }[]) =>
    ids.map(({ id }) => names.get(id) ?? id).join(', ');
  return [
    `People: ${namesOf(people)}`,
    `Groups: ${namesOf(groups)}`,
    `Channels: ${namesOf(channels)}`,
    ...(added.length === 0
      ? []
      : [`Added because the manifest names them: ${namesOf(added.map((id) => ({ id })))}`]),
  ];
}

/** Says of each person the id that a manifest names, and the policies in which they are an approver. */
export function notesFor(state: WorkspaceState, { policies }: Manifest): PersonNotes {
  const isMember = (person: string, approver: string) =>
    approver === person || state.userGroups.get(approver)?.users.includes(person) === true;
  return Object.fromEntries(
    [...state.users.keys()].map((id) => {
      const approved = [...policies.values()]
        .filter(({ approvers }) => approvers.some((approver) => isMember(id, approver)))
        .map(({ name }) => name);
      const about = approved.length === 0 ? id : `${id}; approves under ${approved.join(', ')}`;
      return [id, { title: approved.length === 0 ? '' : 'Approver', about }];
    }),
  );
}
