import { hash } from 'node:crypto';
import type { FileSink } from '../../agent/util/tool-files.ts';
import type { BotContext } from '../context.ts';
import { fileName } from '../intake/quote.ts';
import { parseThreadId } from '../slack/thread.ts';
import { fileTexts } from '../texts/files.ts';

const MEDIA_TYPE = /^[\w.+-]{1,60}\/[\w.+-]{1,60}$/;

/**
 * Takes the files of the calls of a thread: each is kept with the thread and put into the outbox, before the result of its call is on
 * record. `round` is the same when the same work runs again after a crash, so that the same bytes are sent once.
 */
export function threadFiles(
  { store, agent }: Pick<BotContext, 'store' | 'agent'>,
  threadId: string,
  round: string,
): FileSink | undefined {
  const limits = agent().files;
  if (limits === undefined) return undefined;
  return {
    maxBytes: limits.maxBytes,
    async record(call, files, hasEffect) {
      const lines: string[] = [];
      for (const { name, data, type = '' } of files) {
        const bytes = Buffer.from(data);
        const shown = fileName(name);
        const id = `${threadId}/${hasEffect ? call.idempotencyKey : round}/file/${hash('sha256', bytes)}`;
        const mediaType = MEDIA_TYPE.test(type) ? type : 'application/octet-stream';
        const { outcome } = await store.keepFile(threadId, { id, type: mediaType, bytes });
        if (outcome === 'kept')
          await store.enqueueOutbox(threadId, {
            id,
            body: { kind: 'file', ...parseThreadId(threadId), file: id, name: shown },
          });
        lines.push(fileTexts.sent({ name: shown, type: mediaType, size: bytes.length }, outcome === 'kept'));
      }
      return lines;
    },
  };
}
