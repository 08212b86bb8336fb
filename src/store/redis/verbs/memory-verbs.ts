import { z } from 'zod';
import { tryParseJson } from '../../../agent/json.ts';
import type { Feedback, KeptNote, MemoryStore } from '../../port/workspace.ts';
import { isPerson, isThreadId, type Keys } from '../../record/keys.ts';
import type { RedisClient, RunScript } from '../run-script.ts';
import { ScriptReply } from '../script-reply.ts';
import { scanKeys } from './scan-keys.ts';
import type { Retention } from './thread-verbs.ts';

const DAY_MS = 86_400_000;

const Verdict = z.enum(['good', 'bad']);
const Note = z.object({ text: z.string(), people: z.array(z.string()) });

interface MemoryOptions {
  readonly keys: Keys;
  readonly prefix: string;
  readonly retention: () => Retention;
}

/** The verbs about feedback and notes. Notes leave when nobody has written or read them for as long as idle threads are kept, and at least a day. */
export function memoryVerbs(
  run: RunScript,
  client: RedisClient,
  { keys, prefix, retention }: MemoryOptions,
): MemoryStore {
  const keptMs = (): number => Math.max(retention().threadMs, DAY_MS);

  async function readNotes(channel: string): Promise<KeptNote[]> {
    const fields = Object.entries(await client.hgetall(keys.memory(channel)));
    return fields
      .flatMap(([id, value]) => readNote(channel, id, value))
      .sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1));
  }

  async function* feedbackKeys(): AsyncGenerator<{ key: string; threadId: string }> {
    const seen = new Set<string>();
    for await (const { key, kind, id } of scanKeys(client, prefix)) {
      if (kind !== 'feedback' || seen.has(key)) continue;
      seen.add(key);
      yield { key, threadId: id };
    }
  }

  return {
    async giveFeedback({ threadId, answer, person, verdict }) {
      if (!isThreadId(threadId) || !isPerson(person) || !isPerson(answer))
        return { outcome: 'unknown-thread' };
      const reply = new ScriptReply(await run('feedback', { threadId, args: [answer, person, verdict] }));
      return { outcome: reply.oneOf('recorded', 'unknown-thread') };
    },

    async listFeedback() {
      const listed: Feedback[] = [];
      for await (const { key, threadId } of feedbackKeys())
        for (const [field, value] of Object.entries(await client.hgetall(key))) {
          const [answer = '', person = ''] = field.split(' ');
          const verdict = Verdict.safeParse(value).data;
          if (verdict !== undefined) listed.push({ threadId, answer, person, verdict });
        }
      return listed;
    },

    async eraseFeedback(person) {
      let erased = 0;
      for await (const { key } of feedbackKeys()) {
        const fields = (await client.hkeys(key)).filter((field) => field.endsWith(` ${person}`));
        if (fields.length > 0) erased += await client.hdel(key, ...fields);
      }
      return erased;
    },

    async remember(channel, { id, text, people }, most) {
      const note = JSON.stringify({ text, people });
      const args = [id, note, most, keptMs()];
      const reply = new ScriptReply(await run('remember', { threadId: channel, args }));
      return { outcome: reply.oneOf('remembered', 'full') };
    },

    async recall(channel) {
      const [notes] = await Promise.all([readNotes(channel), client.pexpire(keys.memory(channel), keptMs())]);
      return notes;
    },

    async forget(channel, ids) {
      if (ids.length > 0) await run('forget', { threadId: channel, args: [...ids] });
    },

    async listNotes() {
      const channels = await client.zrange(keys.shared('noted'), '0', '-1');
      const notes = await Promise.all(channels.map(readNotes));
      return notes.flat();
    },
  };
}

/** A note that cannot be read is as if it were not there. */
function readNote(channel: string, id: string, value: string): KeptNote[] {
  const [, at = '', json = ''] = /^(\d+) (.*)$/s.exec(value) ?? [];
  const note = Note.safeParse(tryParseJson(json)).data;
  return note === undefined ? [] : [{ id, channel, at: Number(at), ...note }];
}
