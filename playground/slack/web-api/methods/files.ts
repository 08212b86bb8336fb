import { z } from 'zod';
import { fileOnWire, fileWithShares } from '../../files/file-on-wire.ts';
import { isShown } from '../../files/serve-file.ts';
import { LIMITS } from '../../limits.ts';
import { json, optionalString, requiredString } from '../arguments.ts';
import { visibleChannel } from '../channels.ts';
import { defineMethod } from '../method.ts';
import { Refusal } from '../refusal.ts';
import { authorship, requireThread } from '../threads.ts';

export const info = defineMethod(z.object({ file: requiredString }), (given, { state }) => {
  const file = state.files.find(given.file);
  const isOwn = file?.user === state.app.botUserId;
  if (file === undefined || (!isOwn && !isShown(state, file.shares))) throw new Refusal('file_not_found');
  if (file.deleted) throw new Refusal('file_deleted');
  return { file: fileWithShares(state, file), comments: [], response_metadata: { next_cursor: '' } };
});

export const getUploadUrl = defineMethod(
  z.object({
    filename: requiredString,
    length: z.coerce.number().int(),
    alt_txt: optionalString,
    snippet_type: optionalString,
  }),
  (given, { state }) => {
    if (given.length <= 0 || given.length > LIMITS.fileBytes)
      throw new Refusal('file_upload_size_restricted');
    if ((given.alt_txt ?? '').length > LIMITS.fileAlt) throw new Refusal('alt_txt_too_large');
    const { uploadUrl, fileId } = state.files.beginUpload(given.filename, given.length);
    return { upload_url: uploadUrl, file_id: fileId };
  },
);

const Completed = z.array(z.object({ id: z.string().min(1), title: z.string().optional() })).min(1);

export const completeUpload = defineMethod(
  z.object({
    files: json('invalid_arguments'),
    channel_id: optionalString,
    thread_ts: optionalString,
    initial_comment: optionalString,
  }),
  (given, { state }) => {
    const listed = Completed.parse(given.files);
    const channel = given.channel_id === undefined ? undefined : visibleChannel(state, given.channel_id);
    if (channel?.is_archived) throw new Refusal('is_archived');
    if (channel !== undefined && !channel.members.has(state.app.botUserId))
      throw new Refusal('not_in_channel');
    const thread =
      channel === undefined || given.thread_ts === undefined
        ? {}
        : { thread_ts: requireThread(state, channel, given.thread_ts) };
    if (!listed.every(({ id }) => state.files.isUploaded(id))) throw new Refusal('file_not_found');
    const files = listed.flatMap(
      ({ id, title }) => state.files.complete(id, state.app.botUserId, title) ?? [],
    );
    if (channel !== undefined)
      state.postFiles(files, {
        ...{ text: given.initial_comment ?? '', blocks: [], attachments: [] },
        ...{ ...thread, ...authorship(state), channel: channel.id },
      });
    return { files: files.map((file) => fileOnWire(state, file)) };
  },
);

export const remove = defineMethod(z.object({ file: requiredString }), (given, { state }) => {
  const file = state.files.find(given.file);
  if (file === undefined) throw new Refusal('file_not_found');
  if (file.user !== state.app.botUserId) throw new Refusal('cant_delete_file');
  if (file.deleted) throw new Refusal('file_deleted');
  file.deleted = true;
  state.changed();
  return {};
});
