import type { ActionName, ActionResult, Actions, Change, Entity, MessageEntity } from './protocol.ts';

/** One person's client of the page, without a browser: for scripts and tests. */
export interface PageClient {
  /** The entities of this person's page, by key. */
  readonly entities: ReadonlyMap<string, Entity>;
  /** Performs an action as this person; throws with the server's message when it is refused. */
  act<Name extends ActionName>(name: Name, body: Actions[Name]): Promise<Extract<ActionResult, { ok: true }>>;
  /** Waits until an entity is found; asked again after every change. */
  until<Found>(
    find: (entities: readonly Entity[]) => Found | undefined,
    options: { readonly what: string; readonly timeoutMs?: number },
  ): Promise<Found>;
  close(): void;
}

const TIMEOUT_MS = 60_000;

/** Connects as a person to a page server and keeps what it sends. */
export async function openPageClient(url: string, userId: string): Promise<PageClient> {
  const origin = url.replace(/\/$/, '');
  const entities = new Map<string, Entity>();
  const watchers = new Set<() => void>();
  const closing = new AbortController();
  const response = await fetch(`${origin}/client/${userId}/events`, { signal: closing.signal });
  if (!response.ok || response.body === null)
    throw new Error(`${origin} does not serve the client of ${userId}: ${response.status}.`);
  void follow(response.body, ({ fresh, set, gone }) => {
    if (fresh) entities.clear();
    for (const entity of set) entities.set(entity.key, entity);
    for (const key of gone) entities.delete(key);
    for (const check of [...watchers]) check();
  });
  return {
    entities,
    async act(name, body) {
      const answered = await fetch(`${origin}/client/${userId}/${name}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      const answer = (await answered.json()) as ActionResult;
      if (!answer.ok) throw new Error(`${name} was refused: ${answer.error}`);
      return answer;
    },
    until: (find, { what, timeoutMs = TIMEOUT_MS }) =>
      new Promise((resolve, reject) => {
        const check = () => {
          const found = find([...entities.values()]);
          if (found === undefined) return;
          clearTimeout(timer);
          watchers.delete(check);
          resolve(found);
        };
        const timer = setTimeout(() => {
          watchers.delete(check);
          reject(new Error(`After ${timeoutMs} ms the page of ${userId} had not shown: ${what}.`));
        }, timeoutMs);
        watchers.add(check);
        check();
      }),
    close: () => closing.abort(),
  };
}

/** Returns the messages whose text or blocks match, oldest first. */
export function messagesMatching(entities: readonly Entity[], pattern: RegExp): readonly MessageEntity[] {
  return entities
    .filter((entity) => entity.kind === 'message')
    .filter(({ text, blocks }) => pattern.test(`${text}\n${JSON.stringify(blocks)}`))
    .toSorted((one, other) => Number(one.ts) - Number(other.ts));
}

/** Reads server-sent events until the stream ends; each holds one change. */
async function follow(body: ReadableStream<Uint8Array>, take: (change: Change) => void): Promise<void> {
  let unread = '';
  try {
    for await (const part of body.pipeThrough(new TextDecoderStream())) {
      const events = (unread + part).split('\n\n');
      unread = events.pop() ?? '';
      for (const event of events) {
        const data = /^data: ?(.*)$/m.exec(event)?.[1];
        if (data !== undefined) take(JSON.parse(data) as Change);
      }
    }
  } catch {
    // The server stopped, or this client was closed.
  }
}
