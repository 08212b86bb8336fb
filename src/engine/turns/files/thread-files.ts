import { hash } from 'node:crypto';
import type { Media } from '../../../agent/messages.ts';
import type { HistoryItem } from '../../../agent/model.ts';
import type { FileSink } from '../../../agent/util/tool-files.ts';
import type { Store } from '../../../store/port/store.ts';
import { fileName } from '../intake/quote.ts';
import { type TurnContext, tell } from '../turn-context.ts';
import { fileTexts } from './file-texts.ts';

const MEDIA_TYPE = /^[\w.+-]{1,60}\/[\w.+-]{1,60}$/;

/**
 * Takes the files of the calls of a thread: each is kept with the thread and put into the outbox, before the result of its call is on
 * record. `round` is the same when the same work runs again after a crash, so that the same bytes are sent once.
 */
export function threadFiles(
  context: Pick<TurnContext, 'store' | 'agent' | 'places' | 'messages'>,
  threadId: string,
  round: string,
): FileSink | undefined {
  const limits = context.agent().files;
  if (limits === undefined || !context.places.takesFiles(threadId)) return undefined;
  return {
    maxBytes: limits.maxBytes,
    async record(call, files, hasEffect) {
      const lines: string[] = [];
      for (const { name, data, type = '' } of files) {
        const bytes = Buffer.from(data);
        const shown = fileName(name);
        const id = `${threadId}/${hasEffect ? call.idempotencyKey : round}/file/${hash('sha256', bytes)}`;
        const mediaType = MEDIA_TYPE.test(type) ? type : 'application/octet-stream';
        const outcome = await context.store.writeFile(threadId, id, { type: mediaType, bytes });
        if (outcome === 'written') await tell(context, threadId, { code: 'file', id, name: shown });
        lines.push(
          fileTexts.sent({ name: shown, type: mediaType, size: bytes.length }, outcome === 'written'),
        );
      }
      return lines;
    },
  };
}

const STORED = /^stored:(.+)$/;
/** The most images of a thread that a model is sent; of older ones it reads that they were there. */
const MAX_SHOWN = 10;

/** Refers to an image that its thread keeps, so that the log does not grow by its bytes. */
export function storedImage(id: string, contentType: string): Media {
  return { url: `stored:${id}`, contentType };
}

/** Puts the images that a thread keeps into its history. Each is read once in a turn, and only the newest ones are. */
export class StoredImages {
  readonly #store: Pick<Store, 'readFiles'>;
  readonly #threadId: string;
  readonly #urls = new Map<string, string>();

  constructor(store: Pick<Store, 'readFiles'>, threadId: string) {
    this.#store = store;
    this.#threadId = threadId;
  }

  async show(history: readonly HistoryItem[]): Promise<readonly HistoryItem[]> {
    const stored = history.flatMap((item) => (item.role === 'user' ? (item.media ?? []) : [])).flatMap(idOf);
    if (stored.length === 0) return history;
    const newest = [...new Set(stored)].slice(-MAX_SHOWN);
    const unread = newest.filter((id) => !this.#urls.has(id));
    for (const { id, type, bytes } of await this.#store.readFiles(this.#threadId, unread))
      this.#urls.set(id, `data:${type};base64,${Buffer.from(bytes).toString('base64')}`);
    return history.map((item) => (item.role === 'user' ? this.#withImages(item, new Set(newest)) : item));
  }

  #withImages(
    item: Extract<HistoryItem, { role: 'user' }>,
    newest: ReadonlySet<string>,
  ): Extract<HistoryItem, { role: 'user' }> {
    const { text, media = [] } = item;
    const shown = media.flatMap((image): Media[] => {
      const [id] = idOf(image);
      if (id === undefined) return [image];
      const url = newest.has(id) ? this.#urls.get(id) : undefined;
      return url === undefined ? [] : [{ ...image, url }];
    });
    if (shown.length === media.length) return { ...item, media: shown };
    const rest = shown.length === 0 ? {} : { media: shown };
    return { role: 'user', text: `${text}\n[This image is not shown any more]`, ...rest };
  }
}

function idOf({ url }: Media): string[] {
  const [, id] = STORED.exec(url) ?? [];
  return id === undefined ? [] : [id];
}
