import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { type JsonObject, tryParseJson } from '../../agent/json.ts';
import { refuseNewer } from '../errors.ts';
import type { DocumentStore, WriteOptions } from '../port/documents.ts';

/** The manifest that is active, with the values of its environment but without secrets. */
export interface RecordedManifest {
  readonly digest: string;
  readonly text: string;
  /** The text of the lock file beside it; `undefined` if there was none. */
  readonly lock: string | undefined;
  /** Whether changes of its governed part need approval. */
  readonly isGoverned: boolean;
}

/** An operator's decision about the manifest on record. */
export interface Adoption {
  readonly who: string;
  readonly reason: string;
  readonly evidence: JsonObject;
}

type Recorded = RecordedManifest & { readonly approved: string | undefined };

/** The record of the manifest that all processes agree on. */
export interface ManifestRecord {
  readManifest(): Promise<Recorded | undefined>;
  /** Records another manifest in place of the one with the digest `former`; refused if that is not the recorded one any more. */
  recordManifest(former: string | undefined, next: RecordedManifest): Promise<'recorded' | 'changed'>;
  /** Notes that people have approved a change from one digest to another; it holds until another manifest is recorded. */
  approveManifest(former: string, next: string, change: string): Promise<'approved' | 'changed'>;
  /** Records a manifest in place of the one with the digest `former` by an operator's decision, which is on the audit log. */
  adoptManifest(former: string, next: RecordedManifest, decision: Adoption): Promise<'adopted' | 'changed'>;
}

const GROUP = 'manifest';
const ID = 'active';
/** The version of the stored body; another shape takes the next number and a reader for this one. */
const VERSION = 1;
const Body = z.object({
  v: z.literal(VERSION),
  digest: z.string(),
  text: z.string(),
  lock: z.string().optional(),
  governed: z.boolean(),
  approved: z.string().optional(),
});
const Version = z.object({ v: z.number() });

/** Keeps the manifest as a document. A change that another process makes meanwhile is looked at before it is tried again. */
export function manifestIn(store: DocumentStore): ManifestRecord {
  async function read(): Promise<{ readonly version: string; readonly recorded: Recorded | undefined }> {
    const document = await store.readDocument(GROUP, ID);
    if (document === undefined) return { version: '', recorded: undefined };
    const stored = tryParseJson(document.value);
    const { data: version } = Version.safeParse(stored);
    refuseNewer('The manifest on record', version && String(version.v), VERSION);
    const { digest, text, lock, governed, approved } = Body.parse(stored);
    return { version: document.version, recorded: { digest, text, lock, isGoverned: governed, approved } };
  }

  /** Replaces the manifest `former` by what `next` makes of it, unless `target` is recorded already. */
  async function replace(
    { former, target }: { readonly former: string | undefined; readonly target: string },
    next: (recorded: Recorded | undefined) => Recorded | undefined,
    audit?: WriteOptions['audit'],
  ): Promise<boolean> {
    for (;;) {
      const { version, recorded } = await read();
      if (recorded?.digest === target) return true;
      const changed = recorded?.digest === former ? next(recorded) : undefined;
      if (changed === undefined) return false;
      const document = { version: randomUUID(), value: textOf(changed) };
      const options = { replaces: version, ...(audit !== undefined && { audit }) };
      if ((await store.writeDocument(GROUP, ID, document, options)) === 'written') return true;
    }
  }

  return {
    readManifest: async () => (await read()).recorded,

    async recordManifest(former, next) {
      const isRecorded = await replace({ former, target: next.digest }, () => ({
        ...next,
        approved: undefined,
      }));
      return isRecorded ? 'recorded' : 'changed';
    },

    async approveManifest(former, next, change) {
      const isApproved = await replace(
        { former, target: next },
        (recorded) => recorded && { ...recorded, approved: change },
      );
      return isApproved ? 'approved' : 'changed';
    },

    async adoptManifest(former, next, { who, reason, evidence }) {
      const { digest } = next;
      const body = { former, digest, who, reason, evidence };
      const isAdopted = await replace({ former, target: digest }, () => ({ ...next, approved: undefined }), {
        event: 'manifest-adopted',
        subject: `manifest:${digest}`,
        detail: who,
        body,
      });
      return isAdopted ? 'adopted' : 'changed';
    },
  };
}

function textOf({ digest, text, lock, isGoverned, approved }: Recorded): string {
  const body: z.infer<typeof Body> = {
    v: VERSION,
    digest,
    text,
    governed: isGoverned,
    ...(lock !== undefined && { lock }),
    ...(approved !== undefined && { approved }),
  };
  return JSON.stringify(body);
}
