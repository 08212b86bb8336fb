import { SAVED_VERSION, type SavedWorkspace } from './saved-workspace.ts';
import type { WorkspaceState } from './workspace-state.ts';

/** Copies the whole workspace as JSON; later changes do not affect the copy. */
export function saveState(state: WorkspaceState): SavedWorkspace {
  const { team, users, channels, userGroups, messages, ephemerals, views, used } = state;
  const { shortcuts, ...app } = state.app;
  return structuredClone({
    version: SAVED_VERSION,
    team,
    app: {
      ...app,
      scopes: [...app.scopes],
      events: [...app.events],
      commands: [...app.commands],
      ...(shortcuts !== undefined && { shortcuts: [...shortcuts] }),
    },
    users: [...users.values()],
    channels: [...channels.values()].map((channel) => ({ ...channel, members: [...channel.members] })),
    userGroups: [...userGroups.values()],
    messages: [...messages],
    files: [...state.files.files.values()].map((file) => ({
      ...file,
      bytes: file.bytes.toString('base64'),
    })),
    ephemerals,
    views: [...views.values()],
    threadStatus: Object.fromEntries(state.threadStatus),
    sessions: [...state.sessions.values()],
    suggestedPrompts: Object.fromEntries(state.suggestedPrompts),
    used: { scopes: [...used.scopes], events: [...used.events] },
    clock: state.clock.last,
  });
}
