import { z } from 'zod';
import { checkBlocks } from '../../block-kit/check-blocks.ts';
import { type StreamChunk, streamChunks } from '../../block-kit/chunks.ts';
import { LIMITS } from '../../limits.ts';
import { findSession, setSessionStatus } from '../../state/sessions.ts';
import { appendChunks, isStreaming, renderStream } from '../../state/streams.ts';
import type { Channel, Message, MessageStream } from '../../state/types.ts';
import { messageOnWire } from '../../state/wire.ts';
import { contentOf, type WorkspaceState } from '../../state/workspace-state.ts';
import { json, optionalString, requiredString } from '../arguments.ts';
import { postingChannel } from '../channels.ts';
import { readBlocks, readMetadata } from '../message-content.ts';
import { defineMethod } from '../method.ts';
import { Refusal, refusalOf } from '../refusal.ts';
import { appearance, authorship, requireAppearance, requireThread } from '../threads.ts';
import { requireStatus } from './sessions.ts';

const content = { markdown_text: optionalString, chunks: json('invalid_chunks') };
type Content = z.output<z.ZodObject<typeof content>>;

export const start = defineMethod(
  z.object({
    channel: requiredString,
    thread_ts: requiredString,
    ...content,
    recipient_user_id: optionalString,
    recipient_team_id: optionalString,
    task_display_mode: z.enum(['timeline', 'plan']).optional().default('timeline'),
    ...appearance,
  }),
  (given, { state }) => {
    requireAppearance(state, given);
    const channel = postingChannel(state, given.channel);
    const threadTs = requireThread(state, channel, given.thread_ts);
    requireRecipient(state, channel, given);
    const stream: MessageStream = {
      state: 'in_progress',
      expiresAt: Date.now() + state.timings.streamLife,
      display: given.task_display_mode,
      ...(state.shortcomings.has('streams-in-pieces') && { isInPieces: true }),
      parts: [],
    };
    appendContent(stream, given);
    const message = state.post({
      ...renderStream(stream),
      ...authorship(state),
      attachments: [],
      channel: channel.id,
      thread_ts: threadTs,
      stream,
    });
    // Slack shows the Stop button of a stream even if the app never named the session.
    if (state.app.agent !== 'none') {
      setSessionStatus(state, { channel: channel.id, threadTs }, 'processing');
    }
    return { channel: channel.id, ts: message.ts };
  },
);

export const append = defineMethod(
  z.object({ channel: requiredString, ts: requiredString, ...content }),
  (given, { state }) => {
    const { message, stream } = requireStream(state, given);
    if (!appendContent(stream, given)) throw new Refusal('no_text');
    Object.assign(message, renderStream(stream));
    state.changed();
    return { channel: message.channel, ts: message.ts };
  },
);

export const stop = defineMethod(
  z.object({
    channel: requiredString,
    ts: requiredString,
    ...content,
    blocks: json('invalid_blocks_format'),
    metadata: json('invalid_metadata_format'),
    session_status: optionalString,
  }),
  (given, { state }) => {
    const { message, stream } = requireStream(state, given);
    const status = requireStatus(given.session_status ?? 'active');
    const blocks = given.blocks === undefined ? [] : readBlocks(given.blocks);
    const metadata = given.metadata === undefined ? undefined : readMetadata(given.metadata);
    const before = contentOf(message);
    appendContent(stream, given);
    const shown = renderStream(stream);
    Object.assign(message, { ...shown, blocks: [...shown.blocks, ...blocks] });
    if (metadata !== undefined) message.metadata = metadata;
    state.finishStream(message, before);
    const threadTs = message.thread_ts ?? message.ts;
    if (findSession(state, message.channel, threadTs) !== undefined) {
      setSessionStatus(state, { channel: message.channel, threadTs }, status);
    }
    const onWire = messageOnWire(state, message, message, { metadata: true });
    return { channel: message.channel, ts: message.ts, message: onWire };
  },
);

/** Adds what a call brings, after every check; false when it brings nothing. */
function appendContent(stream: MessageStream, given: Content): boolean {
  const chunks = readChunks(given);
  if (chunks.length === 0) return false;
  const mode = given.markdown_text === undefined ? 'chunks' : 'text';
  if (stream.mode !== undefined && stream.mode !== mode) throw new Refusal('streaming_mode_mismatch');
  stream.mode = mode;
  appendChunks(stream, chunks);
  return true;
}

function readChunks({ markdown_text, chunks }: Content): StreamChunk[] {
  if (markdown_text !== undefined && chunks !== undefined) throw new Refusal('markdown_text_conflict');
  const parsed = streamChunks.safeParse(
    markdown_text === undefined ? (chunks ?? []) : [{ type: 'markdown_text', text: markdown_text }],
  );
  if (!parsed.success) throw new Refusal('invalid_chunks');
  for (const chunk of parsed.data) {
    if (chunk.type === 'markdown_text' && chunk.text.length > LIMITS.markdown)
      throw new Refusal('msg_too_long');
    const problems = chunk.type === 'blocks' ? checkBlocks(chunk.blocks) : [];
    if (problems.length > 0) throw refusalOf('invalid_blocks', problems);
  }
  return parsed.data;
}

function requireStream(
  state: WorkspaceState,
  given: { channel: string; ts: string },
): { message: Message; stream: MessageStream } {
  const channel = postingChannel(state, given.channel);
  const message = state.findMessage(channel.id, given.ts);
  if (message === undefined) throw new Refusal('message_not_found');
  const { stream } = message;
  if (stream === undefined || !isStreaming(message)) throw new Refusal('message_not_in_streaming_state');
  return { message, stream };
}

function requireRecipient(
  state: WorkspaceState,
  channel: Channel,
  given: { recipient_user_id?: string | undefined; recipient_team_id?: string | undefined },
): void {
  if (channel.kind === 'im') return;
  if (given.recipient_team_id === undefined) throw new Refusal('missing_recipient_team_id');
  if (given.recipient_user_id === undefined) throw new Refusal('missing_recipient_user_id');
  const recipient = state.users.get(given.recipient_user_id);
  if (recipient?.team_id !== given.recipient_team_id) throw new Refusal('user_not_found');
}
