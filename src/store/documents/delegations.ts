import { hash } from 'node:crypto';
import { z } from 'zod';
import type { JsonObject } from '../../agent/json.ts';
import { JsonRecord } from '../../agent/json-schema.ts';
import type { DocumentStore } from '../port/documents.ts';

/** A delegation: one person decides for another, until a time, where the policy of a request allows it. */
export interface Delegation {
  readonly id: string;
  /** The approver. */
  readonly from: string;
  /** The person who decides for them. */
  readonly to: string;
  readonly startedAt: number;
  readonly until: number;
  readonly reason: string;
  /** The proof that the approver's passkey signed it. */
  readonly proof?: JsonObject | undefined;
  /** The policies for which it is; `undefined` for all. */
  readonly policies?: readonly string[] | undefined;
  /** Set where the manifest declares it. */
  readonly declared?: true | undefined;
}

export interface NewDelegation extends Omit<Delegation, 'startedAt' | 'proof' | 'policies' | 'declared'> {
  readonly evidence: JsonObject;
}

/** The end of a delegation before its time. */
export interface DelegationEnd {
  readonly from: string;
  /** The id of the delegation that the person was shown; `undefined` for the one that holds. */
  readonly shown?: string | undefined;
  /** New for each click. */
  readonly id: string;
  readonly who: string;
  /** Whether the person may end a delegation of others. */
  readonly isAdmin: boolean;
  readonly evidence: JsonObject;
}

/** The delegations, one of each person at a time. */
export interface Delegations {
  /** Enters a delegation, in place of an earlier one of the same person. */
  delegate(delegation: NewDelegation): Promise<'delegated' | 'over'>;
  /** Adds what the approver's passkey signed, if this delegation still holds. */
  sign(delegation: Pick<Delegation, 'id' | 'from'>, proof: JsonObject): Promise<'signed' | 'none'>;
  end(end: DelegationEnd): Promise<'ended' | 'none' | 'not-eligible'>;
  /** Enters those that the manifest declares in place of those it declared before. What a person has given themselves comes first. */
  adopt(declared: readonly Pick<Delegation, 'from' | 'to' | 'until' | 'policies'>[]): Promise<void>;
}

const TABLE = ['delegations', 'table'] as const;
/** From whom, to whom, until when, since when, the id, and the rest as JSON. */
const LINE = /^(\S+) (\S+) (\d+) (\d+) (\S+) (.*)$/;
const Rest = z.object({
  reason: z.string(),
  proof: JsonRecord.optional(),
  policies: z.array(z.string()).optional(),
  declared: z.literal(true).optional(),
});

type Held = readonly Delegation[];

/** Lists the delegations that hold, the first that was given first. The script that casts a vote checks them again by Redis's clock. */
export async function readDelegations(store: Pick<DocumentStore, 'readDocument'>): Promise<Held> {
  return parseDelegations((await store.readDocument(...TABLE))?.value);
}

/**
 * Keeps the delegations as one document, which every vote in the place of somebody reads in its own step. Who changes it names the
 * version that they have seen; the version is the id of the change.
 */
export function delegationsIn(store: DocumentStore): Delegations {
  /** Changes the table, once for each id; what another process writes meanwhile is looked at first. */
  async function change<Outcome extends string>(
    id: string,
    next: (held: Held) => Outcome | { readonly held: Held; readonly event: string; readonly detail: string },
    { from, body }: { readonly from: string; readonly body: JsonObject },
  ): Promise<Outcome | 'changed'> {
    for (;;) {
      const { version = '', value } = (await store.readDocument(...TABLE)) ?? {};
      if (version === id) return 'changed';
      const changed = next(parseDelegations(value));
      if (typeof changed === 'string') return changed;
      const { held, event, detail } = changed;
      const audit = { event, subject: `delegation:${from}`, detail, body };
      const document = { version: id, value: delegationsText(held) };
      const written = await store.writeDocument(...TABLE, document, { replaces: version, audit });
      if (written === 'written') return 'changed';
    }
  }

  return {
    async delegate({ evidence, ...given }) {
      const { id, from, to, until, reason } = given;
      const next = (held: Held) => {
        if (until <= Date.now()) return 'over' as const;
        const others = held.filter((each) => each.from !== from);
        return {
          held: [...others, { ...given, startedAt: Date.now() }],
          event: 'delegated',
          detail: `${id} ${to} until ${until}`,
        };
      };
      const outcome = await change<'over'>(id, next, { from, body: { from, to, until, reason, evidence } });
      return outcome === 'changed' ? 'delegated' : outcome;
    },

    async sign({ id, from }, proof) {
      const next = (held: Held) => {
        const current = held.find((each) => each.id === id && each.from === from);
        if (current === undefined) return 'none' as const;
        const signed = { ...current, proof };
        return {
          held: held.map((each) => (each === current ? signed : each)),
          event: 'delegation-signed',
          detail: `${id} ${current.to} until ${current.until}`,
        };
      };
      const outcome = await change<'none'>(`${id}/signed`, next, { from, body: { from, proof } });
      return outcome === 'changed' ? 'signed' : outcome;
    },

    async end({ from, shown, id, who, isAdmin, evidence }) {
      const next = (held: Held) => {
        const current = held.find((each) => each.from === from);
        if (current === undefined || (shown !== undefined && shown !== current.id)) return 'none' as const;
        if (who !== from && who !== current.to && !isAdmin) return 'not-eligible' as const;
        return {
          held: held.filter((each) => each !== current),
          event: 'delegation-ended',
          detail: `${current.id} ${who}`,
        };
      };
      const outcome = await change<'none' | 'not-eligible'>(id, next, {
        from,
        body: { from, who, evidence },
      });
      return outcome === 'changed' ? 'ended' : outcome;
    },

    async adopt(declared) {
      const wanted = declared
        .filter(({ until }) => until > Date.now())
        .map((each) => ({ ...each, id: idOf(each), reason: '', declared: true as const }));
      const gone = (held: Held) =>
        held.find((each) => each.declared === true && !wanted.some(({ id }) => id === each.id));
      for (;;) {
        const over = gone(await readDelegations(store));
        if (over === undefined) break;
        const evidence = { declared: true };
        await change<'none'>(`${over.id}/ended`, without(over.id), {
          from: over.from,
          body: { from: over.from, who: 'manifest', evidence },
        });
      }
      for (const each of wanted) {
        const { id, from, to, until, policies } = each;
        const evidence = { declared: true, ...(policies !== undefined && { policies: [...policies] }) };
        await change<'held'>(id, withDeclared(each), {
          from,
          body: { from, to, until, reason: '', evidence },
        });
      }
    },
  };
}

/** Takes out a delegation that the manifest no longer declares. */
function without(over: string) {
  return (held: Held) =>
    held.some(({ id }) => id === over)
      ? {
          held: held.filter(({ id }) => id !== over),
          event: 'delegation-ended',
          detail: `${over} manifest`,
        }
      : ('none' as const);
}

/** Adds a delegation that the manifest declares, unless the person has one. */
function withDeclared(declared: Omit<Delegation, 'startedAt'>) {
  const { id, from, to, until } = declared;
  return (held: Held) =>
    held.some((other) => other.from === from)
      ? ('held' as const)
      : {
          held: [...held, { ...declared, startedAt: Date.now() }],
          event: 'delegated',
          detail: `${id} ${to} until ${until}`,
        };
}

/** Names a declared delegation by all that it says. */
function idOf({ from, to, until, policies }: Pick<Delegation, 'from' | 'to' | 'until' | 'policies'>): string {
  return `manifest-${hash('sha256', JSON.stringify([from, to, until, policies ?? null])).slice(0, 16)}`;
}

/** Writes delegations as `lib/delegated.lua` reads them, a line for each. */
export function delegationsText(held: Held): string {
  return held
    .map(({ id, from, to, startedAt, until, ...rest }) =>
      [from, to, until, startedAt, id, JSON.stringify(rest)].join(' '),
    )
    .join('\n');
}

/** Reads those whose time is not over. */
function parseDelegations(value = ''): Held {
  return value.split('\n').flatMap((line) => {
    const [, from = '', to = '', until, startedAt, id = '', rest = ''] = LINE.exec(line) ?? [];
    if (until === undefined || Number(until) <= Date.now()) return [];
    const times = { until: Number(until), startedAt: Number(startedAt) };
    return [{ id, from, to, ...times, ...Rest.parse(JSON.parse(rest)) }];
  });
}
