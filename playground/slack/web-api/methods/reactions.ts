import { z } from 'zod';
import { addReaction, removeReaction } from '../../state/reactions.ts';
import type { Message } from '../../state/types.ts';
import { messageOnWire } from '../../state/wire.ts';
import type { WorkspaceState } from '../../state/workspace-state.ts';
import { requiredString } from '../arguments.ts';
import { visibleChannel } from '../channels.ts';
import { defineMethod } from '../method.ts';
import { Refusal } from '../refusal.ts';

const schema = z.object({ channel: requiredString, timestamp: requiredString, name: requiredString });

export const add = defineMethod(schema, (given, { state }) => {
  const message = reactionTarget(state, given);
  const name = requireName(given.name);
  if (!addReaction(state, message, name, state.app.botUserId)) throw new Refusal('already_reacted');
  return {};
});

export const remove = defineMethod(schema, (given, { state }) => {
  const message = reactionTarget(state, given);
  const name = requireName(given.name);
  if (!removeReaction(state, message, name, state.app.botUserId)) throw new Refusal('no_reaction');
  return {};
});

export const get = defineMethod(
  z.object({ channel: requiredString, timestamp: requiredString }),
  (given, { state }) => {
    const message = reactionTarget(state, given);
    return { type: 'message', channel: message.channel, message: messageOnWire(state, message) };
  },
);

function requireName(given: string): string {
  const name = given.replace(/^:|:$/g, '');
  if (!/^[a-z0-9_'+-]+(::skin-tone-[2-6])?$/.test(name)) throw new Refusal('invalid_name');
  return name;
}

function reactionTarget(state: WorkspaceState, given: { channel: string; timestamp: string }): Message {
  const channel = visibleChannel(state, given.channel);
  if (!channel.members.has(state.app.botUserId)) throw new Refusal('not_in_channel');
  if (channel.is_archived) throw new Refusal('is_archived');
  const message = state.findMessage(channel.id, given.timestamp);
  if (message === undefined) throw new Refusal('message_not_found');
  return message;
}
