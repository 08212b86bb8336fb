import { z } from 'zod';
import { optionalString } from '../arguments.ts';
import { defineMethod } from '../method.ts';
import { Refusal } from '../refusal.ts';

export const authTest = defineMethod(
  z.object({}),
  (_given, { state, token }) => {
    const { app, team } = state;
    if (token === 'app') return { app_name: app.name, app_id: app.id };
    return {
      url: `https://${team.domain}.slack.com/`,
      team: team.name,
      user: state.users.get(app.botUserId)?.name,
      team_id: team.id,
      user_id: app.botUserId,
      bot_id: app.botId,
      is_enterprise_install: false,
    };
  },
  ['bot', 'app'],
);

export const connectionsOpen = defineMethod(
  z.object({}),
  (_given, { state, openSocketUrl }) => {
    if (!state.app.socketMode) throw new Refusal('socket_mode_not_enabled');
    return { url: openSocketUrl() };
  },
  ['app'],
);

export const teamInfo = defineMethod(z.object({ team: optionalString }), (given, { state }) => {
  const { id, name, domain } = state.team;
  if (given.team !== undefined && given.team !== id) throw new Refusal('team_not_found');
  return { team: { id, name, domain, email_domain: '', url: `https://${domain}.slack.com/` } };
});
