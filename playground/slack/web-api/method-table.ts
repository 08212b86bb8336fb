import type { Method } from './method.ts';
import * as app from './methods/app.ts';
import * as assistant from './methods/assistant.ts';
import * as blocks from './methods/blocks.ts';
import * as chat from './methods/chat.ts';
import * as conversations from './methods/conversations.ts';
import * as files from './methods/files.ts';
import * as people from './methods/people.ts';
import * as reactions from './methods/reactions.ts';
import * as sessions from './methods/sessions.ts';
import * as streams from './methods/streams.ts';
import * as views from './methods/views.ts';

/** Every method this workspace answers, by Slack's name; anything else is an unknown method. */
export const METHODS: ReadonlyMap<string, Method> = new Map([
  ['agents.sessions.rename', sessions.rename],
  ['agents.sessions.setStatus', sessions.setStatus],
  ['apps.connections.open', app.connectionsOpen],
  ['assistant.threads.setStatus', assistant.setStatus],
  ['assistant.threads.setSuggestedPrompts', assistant.setSuggestedPrompts],
  ['assistant.threads.setTitle', assistant.setTitle],
  ['auth.test', app.authTest],
  ['blocks.validate', blocks.validate],
  ['bots.info', people.botsInfo],
  ['chat.appendStream', streams.append],
  ['chat.delete', chat.remove],
  ['chat.getPermalink', chat.getPermalink],
  ['chat.postEphemeral', chat.postEphemeral],
  ['chat.postMessage', chat.postMessage],
  ['chat.startStream', streams.start],
  ['chat.stopStream', streams.stop],
  ['chat.update', chat.update],
  ['conversations.history', conversations.history],
  ['conversations.info', conversations.info],
  ['conversations.members', conversations.members],
  ['conversations.open', conversations.open],
  ['conversations.replies', conversations.replies],
  ['files.completeUploadExternal', files.completeUpload],
  ['files.delete', files.remove],
  ['files.getUploadURLExternal', files.getUploadUrl],
  ['files.info', files.info],
  ['reactions.add', reactions.add],
  ['reactions.get', reactions.get],
  ['reactions.remove', reactions.remove],
  ['team.info', app.teamInfo],
  ['usergroups.list', people.userGroupsList],
  ['usergroups.users.list', people.userGroupsUsersList],
  ['users.info', people.usersInfo],
  ['users.list', people.usersList],
  ['users.lookupByEmail', people.usersLookupByEmail],
  ['views.open', views.open],
  ['views.publish', views.publish],
  ['views.push', views.push],
  ['views.update', views.update],
]);
