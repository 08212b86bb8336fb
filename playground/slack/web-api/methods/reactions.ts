import { z } from 'zod';
import type { Message } from '../../state/types.ts';
import type { WorkspaceState } from '../../state/workspace-state.ts';
import { word } from '../arguments.ts';
import { visibleChannel } from '../channels.ts';
import { defineMethod } from '../method.ts';
import { Refusal } from '../refusal.ts';

const schema = z.object({ channel: word, timestamp: word, name: word });

export const add = defineMethod(schema, (given, { state }) => {
  const message = reactionTarget(state, given);
  const name = given.name.replace(/^:|:$/g, '');
  if (!/^[a-z0-9_'+-]+(::skin-tone-[2-6])?$/.test(name)) throw new Refusal('invalid_name');
  const existing = message.reactions.find((reaction) => reaction.name === name);
  if (existing?.users.includes(state.app.botUserId)) throw new Refusal('already_reacted');
  if (existing === undefined) message.reactions.push({ name, users: [state.app.botUserId] });
  else existing.users.push(state.app.botUserId);
  state.changed();
  return {};
});

export const remove = defineMethod(schema, (given, { state }) => {
  const message = reactionTarget(state, given);
  const name = given.name.replace(/^:|:$/g, '');
  const existing = message.reactions.find((reaction) => reaction.name === name);
  if (!existing?.users.includes(state.app.botUserId)) throw new Refusal('no_reaction');
  existing.users = existing.users.filter((user) => user !== state.app.botUserId);
  message.reactions = message.reactions.filter((reaction) => reaction.users.length > 0);
  state.changed();
  return {};
});

function reactionTarget(state: WorkspaceState, given: z.output<typeof schema>): Message {
  const channel = visibleChannel(state, given.channel);
  if (!channel.members.has(state.app.botUserId)) throw new Refusal('not_in_channel');
  if (channel.is_archived) throw new Refusal('is_archived');
  const message = state.findMessage(channel.id, given.timestamp);
  if (message === undefined) throw new Refusal('message_not_found');
  return message;
}
