import { z } from 'zod';
import { userGroupOnWire, userOnWire } from '../../state/wire.ts';
import { flag, optionalString, pageSize, paginate, requiredString } from '../arguments.ts';
import { defineMethod } from '../method.ts';
import { Refusal } from '../refusal.ts';

export const usersInfo = defineMethod(z.object({ user: requiredString }), (given, { state }) => {
  const user = state.users.get(given.user);
  if (user === undefined) throw new Refusal('user_not_found');
  return { user: userOnWire(state, user) };
});

/** Finds a person by address; everybody's is their name at the domain of the workspace. */
export const usersLookupByEmail = defineMethod(z.object({ email: requiredString }), (given, { state }) => {
  const [name, domain] = given.email.toLowerCase().split('@');
  const user = [...state.users.values()].find((known) => known.name === name && !known.is_bot);
  if (user === undefined || domain !== `${state.team.domain}.example`) throw new Refusal('users_not_found');
  return { user: userOnWire(state, user) };
});

export const usersList = defineMethod(
  z.object({ cursor: optionalString, limit: pageSize(0) }),
  (given, { state }) => {
    const known = [...state.users.values()].filter((user) => !user.is_stranger);
    const { page, nextCursor } = paginate(known, given.limit, given.cursor);
    return {
      members: page.map((user) => userOnWire(state, user)),
      cache_ts: Math.floor(Date.now() / 1_000),
      response_metadata: { next_cursor: nextCursor },
    };
  },
);

export const userGroupsList = defineMethod(
  z.object({ include_users: flag, include_disabled: flag }),
  (given, { state }) => ({
    usergroups: [...state.userGroups.values()]
      .filter((group) => given.include_disabled || !group.disabled)
      .map((group) => userGroupOnWire(state, group, given.include_users)),
  }),
);

export const userGroupsUsersList = defineMethod(
  z.object({ usergroup: requiredString, include_disabled: flag }),
  (given, { state }) => {
    const group = state.userGroups.get(given.usergroup);
    if (group === undefined) throw new Refusal('no_such_subteam');
    if (group.disabled && !given.include_disabled) throw new Refusal('no_such_subteam');
    return { users: [...group.users] };
  },
);

export const botsInfo = defineMethod(z.object({ bot: optionalString }), (given, { state }) => {
  const { app } = state;
  if (given.bot !== undefined && given.bot !== app.botId) throw new Refusal('bot_not_found');
  return {
    bot: {
      id: app.botId,
      app_id: app.id,
      user_id: app.botUserId,
      name: app.name,
      deleted: false,
      updated: 0,
    },
  };
});
