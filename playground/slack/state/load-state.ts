import { z } from 'zod';
import { type AppSeed, buildApp } from '../build-state.ts';
import type { Timings } from '../limits.ts';
import { SAVED_VERSION, type SavedWorkspace, savedWorkspace } from './saved-workspace.ts';
import { keyOfSession } from './sessions.ts';
import type { InstalledApp } from './types.ts';
import { WorkspaceState } from './workspace-state.ts';

/**
 * Restores a saved workspace. A newly declared app replaces the saved one and keeps its ids, tokens and secrets, as when
 * an installed app's manifest changes.
 */
export function loadState(file: unknown, declared: AppSeed | undefined, timings: Timings): WorkspaceState {
  const saved = parseSaved(file);
  const app = declared === undefined ? saved.app : reinstall(saved.app, declared);
  const state = new WorkspaceState(saved.team, app, timings);
  for (const user of saved.users) state.users.set(user.id, user);
  const bot = state.users.get(app.botUserId);
  if (bot !== undefined) Object.assign(bot, { name: app.name, real_name: app.name });
  for (const channel of saved.channels)
    state.channels.set(channel.id, { ...channel, members: new Set(channel.members) });
  for (const group of saved.userGroups) state.userGroups.set(group.id, group);
  for (const message of saved.messages) state.log.add(message);
  for (const file of saved.files)
    state.files.files.set(file.id, { ...file, bytes: Buffer.from(file.bytes, 'base64') });
  state.ephemerals.push(...saved.ephemerals);
  for (const view of saved.views) state.views.set(view.id, view);
  for (const [key, status] of Object.entries(saved.threadStatus)) state.threadStatus.set(key, status);
  for (const session of saved.sessions)
    state.sessions.set(keyOfSession(session.channel, session.thread_ts), session);
  for (const [key, prompts] of Object.entries(saved.suggestedPrompts))
    state.suggestedPrompts.set(key, prompts);
  for (const scope of saved.used.scopes) state.used.scopes.add(scope);
  for (const event of saved.used.events) state.used.events.add(event);
  state.clock.resumeAfter(saved.clock);
  return state;
}

function parseSaved(file: unknown): SavedWorkspace {
  const { version } = z.looseObject({ version: z.number().optional() }).catch({}).parse(file);
  if (version !== undefined && version > SAVED_VERSION) {
    throw new Error(
      `The saved workspace is of version ${version} and this playground reads up to ${SAVED_VERSION}: use the newer playground that saved it, or start over with --reset.`,
    );
  }
  const parsed = savedWorkspace.safeParse(file);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where = issue === undefined || issue.path.length === 0 ? 'at its top' : `at ${issue.path.join('.')}`;
  throw new Error(
    `The saved workspace is broken ${where} (${issue?.message ?? 'unreadable'}): repair the file, or start over with --reset.`,
    { cause: parsed.error },
  );
}

function reinstall(installed: InstalledApp, declared: AppSeed): InstalledApp {
  const { requestUrl } = installed;
  const { id, botId, botUserId, botToken, appToken, signingSecret, verificationToken, isTokenRevoked } =
    installed;
  return {
    ...(requestUrl !== undefined && { requestUrl }),
    ...buildApp(declared),
    id,
    botId,
    botUserId,
    botToken,
    appToken,
    signingSecret,
    verificationToken,
    isTokenRevoked,
  };
}
