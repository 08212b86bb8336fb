import type { Media } from '../../agent/messages.ts';
import type { HistoryItem } from '../../agent/model.ts';
import type { Store } from '../../store/port/store.ts';

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
