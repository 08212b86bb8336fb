import type { DocumentStore } from '../../port/documents.ts';
import type { Keys } from '../../record/keys.ts';
import type { RedisClient, RunScript } from '../run-script.ts';
import { ScriptReply } from '../script-reply.ts';

/** Keeps documents, each under a key of its own, so that Redis itself ends those that end. */
export function documentVerbs(run: RunScript, client: RedisClient, keys: Keys): DocumentStore {
  return {
    async readDocument(group, id) {
      const text = await client.get(keys.document(nameOf(group, id)));
      if (text === null) return undefined;
      const cut = text.indexOf('\n');
      return { version: text.slice(0, cut), value: text.slice(cut + 1) };
    },

    async writeDocument(group, id, document, { replaces, forMs = 0, audit } = {}) {
      const { version = '', value = '' } = document ?? {};
      const check = replaces === undefined ? [0, ''] : [1, replaces];
      const row =
        audit === undefined
          ? ['', '', '', '', '']
          : [audit.event, audit.subject, audit.detail, ...run.auditBody(audit.body)];
      const args = [version, value, ...check, forMs, ...row];
      const reply = await run('write-document', { threadId: nameOf(group, id), args });
      return new ScriptReply(reply).oneOf('written', 'stale');
    },

    async listDocuments(start) {
      const names = await client.zrangebylex(keys.shared('documents'), `[${start}`, `(${start}\xff`);
      return names.map((name) => {
        const cut = name.indexOf('|');
        return { group: name.slice(0, cut), id: name.slice(cut + 1) };
      });
    },
  };
}

function nameOf(group: string, id: string): string {
  return `${group}|${id}`;
}
