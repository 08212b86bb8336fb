import type { Document, DocumentStore, KeptFor } from '../../port/documents.ts';
import { isThreadId, type Keys } from '../../port/keys.ts';
import type { Store } from '../../port/store.ts';
import type { KeptFile } from '../../port/values.ts';
import type { RedisClient, RunScript } from '../run-script.ts';
import { ScriptReply } from '../script-reply.ts';
import type { Retention } from './turn-verbs.ts';

const DAY_MS = 86_400_000;

type FileVerbs = Pick<Store, 'writeFile' | 'readFiles'>;

/** The most that a thread keeps, as it is stored; a file is stored in base64, behind its type. */
const MOST_BYTES = 64 * 1024 * 1024;

/** Keeps documents, each under a key of its own, so that Redis itself ends those that end. */
export function documentVerbs(
  run: RunScript,
  client: RedisClient,
  keys: Keys,
  retention: () => Retention,
): DocumentStore {
  const msOf = (kept: KeptFor): number =>
    kept === 'as-threads' ? Math.max(retention().threadMs, DAY_MS) : kept;

  async function write(
    ...[group, id, document, { replaces, forMs = 0, audit } = {}]: Parameters<DocumentStore['writeDocument']>
  ): Promise<'written' | 'stale'> {
    const { version = '', value = '' } = document ?? {};
    const check = replaces === undefined ? [0, ''] : [1, replaces];
    const row =
      audit === undefined
        ? ['', '', '', '', '']
        : [audit.event, audit.subject, audit.detail, ...run.auditBody(audit.body)];
    const args = [version, value, ...check, msOf(forMs), ...row];
    const reply = await run('write-document', { threadId: nameOf(group, id), args });
    return new ScriptReply(reply).oneOf('written', 'stale');
  }

  return {
    async readDocument(group, id, options) {
      const key = keys.document(nameOf(group, id));
      return parse(
        options === undefined ? await client.get(key) : await client.getex(key, 'PX', options.forMs),
      );
    },

    writeDocument: write,

    async listDocuments(start) {
      const all = await client.zrange(keys.shared('documents'), '0', '-1');
      const names = all.filter((name) => name.startsWith(start)).sort();
      const texts = names.length === 0 ? [] : await client.mget(names.map((name) => keys.document(name)));
      const listed = [];
      for (const [index, name] of names.entries()) {
        const cut = name.indexOf('|');
        const [group, id] = [name.slice(0, cut), name.slice(cut + 1)];
        const document = parse(texts[index] ?? null);
        if (document !== undefined) listed.push({ group, id, ...document });
        // It has ended by itself.
        else await write(group, id, undefined, { replaces: '' });
      }
      return listed;
    },
  };
}

function parse(text: string | null): Document | undefined {
  if (text === null) return undefined;
  const cut = text.indexOf('\n');
  return { version: text.slice(0, cut), value: text.slice(cut + 1) };
}

function nameOf(group: string, id: string): string {
  return `${group}|${id}`;
}

/** The verbs of the files of a thread; they leave Redis with their thread. */
export function fileVerbs(
  run: RunScript,
  client: RedisClient,
  keys: Keys,
  mostBytes = MOST_BYTES,
): FileVerbs {
  return {
    async writeFile(threadId, id, file) {
      if (!isThreadId(threadId)) return 'unknown-thread';
      const text = file === undefined ? '' : `${file.type} ${Buffer.from(file.bytes).toString('base64')}`;
      const reply = new ScriptReply(await run('write-file', { threadId, args: [id, text, mostBytes] }));
      return reply.oneOf('written', 'unknown-thread', 'full');
    },

    async readFiles(threadId, ids) {
      if (!isThreadId(threadId) || ids.length === 0) return [];
      const stored = await client.hmget(keys.files(threadId), ...ids);
      return ids.flatMap((id, index): KeptFile[] => {
        const text = stored[index] ?? undefined;
        if (text === undefined) return [];
        const end = text.indexOf(' ');
        return [{ id, type: text.slice(0, end), bytes: Buffer.from(text.slice(end + 1), 'base64') }];
      });
    },
  };
}
