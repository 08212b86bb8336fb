import type { ChannelKind, JsonObject } from '../state/types.ts';
import type { WorkspaceState } from '../state/workspace-state.ts';
import { extensionOf, type StoredFile } from './file-shelf.ts';

const SHARE_LISTS: Readonly<Record<ChannelKind, string>> = {
  public: 'channels',
  private: 'groups',
  im: 'ims',
  mpim: 'groups',
};

/** A file as messages and events show it: one of another organisation has to be asked for with `files.info`. */
export function attachedFileOnWire(state: WorkspaceState, file: StoredFile): JsonObject {
  const { id, user } = file;
  const isOwn = (state.users.get(user)?.team_id ?? state.team.id) === state.team.id;
  if (file.deleted || isOwn) return fileOnWire(state, file);
  return { id, created: 0, timestamp: 0, mode: 'file_access', file_access: 'check_file_info', user: '' };
}

/** A file as `files.info` shows it; a deleted one is a tombstone. */
export function fileOnWire(state: WorkspaceState, file: StoredFile): JsonObject {
  const { id, name, title, mimetype, user, created, size } = file;
  if (file.deleted) return { id, mode: 'tombstone' };
  const base = `${state.files.origin}/files-pri/${state.team.id}-${id}`;
  const path = encodeURIComponent(name);
  const isText = mimetype.startsWith('text/');
  return {
    id,
    created,
    timestamp: created,
    name,
    title,
    mimetype,
    filetype: extensionOf(name) || 'binary',
    pretty_type: extensionOf(name).toUpperCase() || 'Binary',
    user,
    user_team: state.users.get(user)?.team_id ?? state.team.id,
    editable: isText,
    size,
    mode: isText ? 'snippet' : 'hosted',
    is_external: false,
    external_type: '',
    is_public: file.shares.some(({ channel }) => state.channels.get(channel)?.kind === 'public'),
    public_url_shared: false,
    display_as_bot: false,
    username: '',
    url_private: `${base}/${path}`,
    url_private_download: `${base}/download/${path}`,
    permalink: `https://${state.team.domain}.slack.com/files/${user}/${id}/${path}`,
    permalink_public: `https://slack-files.com/${state.team.id}-${id}`,
    has_rich_preview: false,
    file_access: 'visible',
  };
}

/** Adds to a file where it is shared, as only `files.info` does. */
export function fileWithShares(state: WorkspaceState, file: StoredFile): JsonObject {
  const lists: Record<string, string[]> = { channels: [], groups: [], ims: [] };
  const shares: Record<string, Record<string, JsonObject[]>> = {};
  for (const { channel: id, ts, thread_ts } of file.shares) {
    const channel = state.channels.get(id);
    if (channel === undefined) continue;
    const list = lists[SHARE_LISTS[channel.kind]] ?? [];
    if (!list.includes(id)) list.push(id);
    const kind = channel.kind === 'public' ? 'public' : 'private';
    shares[kind] ??= {};
    shares[kind][id] ??= [];
    shares[kind][id].push({
      ts,
      ...(thread_ts !== undefined && { thread_ts }),
      channel_name: channel.name,
      team_id: state.team.id,
    });
  }
  return { ...fileOnWire(state, file), ...lists, shares, comments_count: 0 };
}
