import type { Verbs, World } from './world.ts';

type DocumentVerbs = Pick<Verbs, 'readDocument' | 'writeDocument' | 'listDocuments'>;

/** A document is replaced as a whole; who names the version that they replace does so only while it is there. */
export function documentModel(world: World): DocumentVerbs {
  const { documents } = world;
  const keyOf = (group: string, id: string) => `${group}|${id}`;
  return {
    readDocument: (group, id) => documents.get(keyOf(group, id)),
    writeDocument(group, id, document, { replaces, audit } = {}) {
      const key = keyOf(group, id);
      const current = documents.get(key)?.version;
      if (current === document?.version) return 'written';
      if (replaces !== undefined && (current ?? '') !== replaces) return 'stale';
      if (document === undefined) documents.delete(key);
      else documents.set(key, document);
      if (audit !== undefined)
        world.audited.push([world.now, audit.event, audit.subject, audit.detail].join(' '));
      return 'written';
    },
    listDocuments: (start) =>
      [...documents]
        .filter(([key]) => key.startsWith(start))
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([key, document]) => {
          const [group = '', id = ''] = key.split('|');
          return { group, id, ...document };
        }),
  };
}
