import { hash } from 'node:crypto';
import { z } from 'zod';
import { BYTES_PER_TOKEN } from '../../../agent/history.ts';
import type { JsonObject } from '../../../agent/json.ts';
import { type UserMessage, userMessage } from '../../../agent/messages.ts';
import type { ClaimedTurn, InboxItem } from '../../../store/port/values.ts';
import { AttachedFile, type NamedBecause } from '../../ports.ts';
import { fileTexts } from '../files/file-texts.ts';
import { type FileContent, readFile } from '../files/read-file.ts';
import { storedImage } from '../files/thread-files.ts';
import { type TurnContext, tryToTell } from '../turn-context.ts';
import { nameIn } from './name-in.ts';
import { fileName, quoteWithin } from './quote.ts';

/** A file with the person whose message it came with. */
export interface FileOfPerson {
  readonly file: AttachedFile;
  readonly user: string;
}

/** The most tokens of files that one turn reads, and the largest share of what the model is sent. */
const MAX_TOKENS = 16_000;
const MAX_SHARE = 0.25;

/** Lists the files of messages that a turn reads. */
export function filesIn(items: readonly InboxItem[]): readonly FileOfPerson[] {
  return items.flatMap(({ body }) => filesOf(body).map((file) => ({ file, user: String(body.user) })));
}

function filesOf({ files }: JsonObject): readonly AttachedFile[] {
  return z.array(AttachedFile).default([]).parse(files);
}

/**
 * Reads files into messages that quote them, one for each file, in order. They give nobody authority. The newest are read, one after
 * the other; further ones are named. An image is kept with the thread, so that every later call of a model gets the same bytes.
 */
export async function readAttachedFiles(
  context: TurnContext,
  { threadId }: ClaimedTurn,
  attached: readonly FileOfPerson[],
  signal: AbortSignal,
): Promise<readonly UserMessage[]> {
  const { files: limits, contextBudget } = context.agent();
  const { places, directory, store, logger } = context;
  const names = directory.relaxed();
  const first = limits === undefined ? attached.length : Math.max(0, attached.length - limits.maxCount);
  let left = Math.floor(
    Math.min(MAX_TOKENS, (contextBudget ?? Number.POSITIVE_INFINITY) * MAX_SHARE) * BYTES_PER_TOKEN,
  );
  const messages: UserMessage[] = [];
  const notRead: { id: string; name: string; because: NamedBecause }[] = [];
  for (const [index, { file: announced, user }] of attached.entries()) {
    const name = await nameIn(names, user);
    const isRead = limits !== undefined && index >= first && !signal.aborted;
    const file = isRead ? await places.describeFile(announced) : announced;
    // Every file gets its share of what is left.
    const maxBytes = Math.floor(left / (attached.length - index));
    let content: FileContent = { kind: 'named', because: 'switched-off', size: file.size };
    if (limits !== undefined && !isRead) content = { ...content, because: 'too-many' };
    if (limits !== undefined && isRead)
      content = await readFile(places, file, {
        limits,
        maxCharacters: maxBytes,
        signal,
        logger,
      });
    if (content.kind === 'image') {
      const id = hash('sha256', content.bytes);
      const kept = await store.writeFile(threadId, id, { type: content.type, bytes: content.bytes });
      if (kept !== 'written') content = { kind: 'named', because: 'no-room', size: content.size };
    }
    if (content.kind === 'named' && !signal.aborted)
      notRead.push({ id: file.id, name: fileName(file.name), because: content.because });
    const message = toMessage(content, { file, user, name, maxBytes });
    if (content.kind === 'text') left -= Math.min(maxBytes, Buffer.byteLength(textOf(message)));
    messages.push(message);
  }
  if (notRead.length > 0) await tryToTell(context, threadId, { code: 'files-not-read', files: notRead });
  return messages;
}

function toMessage(
  content: FileContent,
  {
    file,
    user,
    name,
    maxBytes,
  }: {
    readonly file: AttachedFile;
    readonly user: string;
    readonly name: string;
    readonly maxBytes: number;
  },
): UserMessage {
  const shown = fileName(file.name);
  const { type, size } = content;
  const from = { name: shown, type, size, person: fileName(name) };
  const facts = { name: shown, ...(type !== undefined && { type }), ...(size !== undefined && { size }) };
  const metadata = { user, role: 'context' };
  switch (content.kind) {
    case 'named':
      return userMessage(fileTexts.named(from, content.because), { ...metadata, file: facts });
    case 'text': {
      const { quoted, shown: seen, isCut } = quoteWithin(content.text, maxBytes);
      const lines = [fileTexts.text(from), quoted];
      if (content.isCut || isCut) lines.push(fileTexts.cut);
      const sha256 = hash('sha256', seen);
      return userMessage(lines.join('\n'), { ...metadata, file: { ...facts, sha256 } });
    }
    case 'image': {
      const sha256 = hash('sha256', content.bytes);
      const media = [storedImage(sha256, content.type)];
      return userMessage(fileTexts.image(from), { ...metadata, file: { ...facts, sha256 } }, { media });
    }
  }
}

function textOf({ content }: UserMessage): string {
  return content.map((part) => ('text' in part ? part.text : '')).join('');
}
