import { hash } from 'node:crypto';
import { canonicalJson } from '../agent/json.ts';
import { type CallerCall, callItem } from '../engine/caller-threads.ts';
import type { PendingLimiter } from '../engine/pending-limiter.ts';
import type { Store } from '../store/port/store.ts';
import { type CallerDeclaration, callerId } from '../tools/callers.ts';
import { findRequest, madeAt, newRunId, threadOfRun } from './find-request.ts';
import { type Answered, accept, type Refused, refuse } from './problems.ts';
import { isFinal } from './run-view.ts';

/** The dependencies of a new request. */
export interface SubmitContext {
  readonly store: Store;
  readonly limiter: PendingLimiter;
  /** Tells whether the owner of a caller, or a person for whom it asks, is active and may ask in a channel; throws if nobody can tell now. */
  readonly mayAsk: (owner: string, channel: string) => Promise<boolean>;
  /** Returns the trace that the present work belongs to. */
  readonly trace: () => string | undefined;
}

/** Whether people are asked about a call: `perhaps` if that depends on a limit or on a first time, which only the record knows. */
export type Asks = 'always' | 'perhaps' | 'never';

const HOUR_MS = 3_600_000;
const KEPT_MS = 30 * 86_400_000;
const RETRY_PENDING_S = 5;
const RETRY_HOUR_S = 60;
const MAX_RACES = 10;
const NOT_PLACED_MS = 3_600_000;

/** Takes a call on record, once for each key; an identical one that is still open is joined. */
export async function submit(
  context: SubmitContext,
  caller: CallerDeclaration,
  call: CallerCall,
  { asks, idempotencyKey }: { readonly asks: Asks; readonly idempotencyKey: string | undefined },
): Promise<Answered<{ readonly id: string; readonly isNew: boolean }>> {
  const { store, mayAsk, trace } = context;
  const { freezes } = await store.readFreezes();
  const freeze = freezes.find(({ scope }) => scope === callerId(caller.name));
  if (freeze !== undefined)
    return refuse(
      'frozen',
      `${caller.name} was frozen by an admin${freeze.reason === '' ? '.' : `: ${freeze.reason}`}`,
    );
  const linked = checkLink(caller, call.link);
  if (linked !== undefined) return refuse('unfit', linked);
  if (call.person !== undefined && !(await mayAsk(call.person, caller.channel)))
    return refuse('person-unproven', 'This person is not active in Slack, or may not ask there.');
  if (!(await mayAsk(caller.owner, caller.channel)))
    return refuse(
      'owner-inactive',
      `The owner of ${caller.name} is not active in Slack, or may not ask there.`,
    );
  const placed = await place(context, caller, call, idempotencyKey);
  if (!placed.ok) return placed;
  const { id, isOpen } = placed.value;
  const threadId = threadOfRun(caller, id) ?? '';
  if (!isOpen) {
    const refused = await count(context, caller, threadId, asks);
    if (refused !== undefined) return refused;
  }
  const { outcome } = isOpen
    ? { outcome: 'duplicate' }
    : await store.enqueue(threadId, callItem(call, trace()));
  return accept({ id, isNew: outcome === 'enqueued' });
}

/**
 * Finds the id of a call: that of its key, that of the identical call that is open, or a new one. Both are kept as documents that are
 * written only over the version that was read, so that two processes agree.
 */
async function place(
  { store }: Pick<SubmitContext, 'store'>,
  caller: CallerDeclaration,
  call: CallerCall,
  key: string | undefined,
): Promise<Answered<{ readonly id: string; readonly isOpen: boolean }>> {
  const { why, link, ...what } = call;
  const digest = hash('sha256', canonicalJson(what));
  const byKey =
    key === undefined ? undefined : (['door-key', `${caller.name}.${hash('sha256', key)}`] as const);
  const byCall = ['door-call', `${caller.name}.${digest}`] as const;
  for (let races = 0; races < MAX_RACES; races += 1) {
    const keyed = byKey && (await store.readDocument(...byKey));
    if (keyed !== undefined && keyed.value !== digest)
      return refuse('key-reused', 'Send another Idempotency-Key with another request.');
    if (keyed !== undefined) {
      const found = await findRequest(store, caller, keyed.version);
      // A process that died before it put the call on record is followed by one that does, soon.
      const at = madeAt(keyed.version);
      if (found === undefined && Date.now() - at.getTime() > NOT_PLACED_MS)
        return refuse(
          'gone',
          `The request of this key was made at ${at.toISOString()}, and its record is no longer kept. Send another Idempotency-Key to ask again.`,
        );
      return accept({ id: keyed.version, isOpen: found !== undefined });
    }
    const same = await store.readDocument(...byCall);
    const open = same && (await findRequest(store, caller, same.version))?.view;
    const isJoined = same !== undefined && (open === undefined || !isFinal(open.status));
    const id = isJoined ? same.version : newRunId(caller.channel);
    const kept = { forMs: KEPT_MS };
    const written = isJoined
      ? 'written'
      : await store.writeDocument(
          ...byCall,
          { version: id, value: '' },
          { replaces: same?.version ?? '', ...kept },
        );
    if (written === 'stale') continue;
    const claimed =
      byKey === undefined
        ? 'written'
        : await store.writeDocument(...byKey, { version: id, value: digest }, { replaces: '', ...kept });
    if (claimed === 'written') return accept({ id, isOpen: open !== undefined && isJoined });
  }
  return refuse('unavailable', 'The same request is being made at the same time; try again.', {
    retryAfterS: 1,
  });
}

/** Counts a new request against the limits of its caller. */
async function count(
  { store, limiter }: Pick<SubmitContext, 'store' | 'limiter'>,
  caller: CallerDeclaration,
  threadId: string,
  asks: Asks,
): Promise<Refused | undefined> {
  const { pending, perHour } = caller.limits;
  const hourly = { key: `callers/${caller.name}`, amount: 1, max: perHour, windowMs: HOUR_MS };
  const counted = await store.countCall(threadId, { ref: 'submitted', limits: [hourly] });
  if (counted.outcome === 'over')
    return refuse('too-many', `${caller.name} may send ${perHour} requests in an hour.`, {
      retryAfterS: RETRY_HOUR_S,
    });
  if (await hasRoom(limiter, callerId(caller.name), asks, pending)) return undefined;
  return refuse('too-many-pending', `${pending} requests of ${caller.name} wait for people already.`, {
    retryAfterS: RETRY_PENDING_S,
  });
}

/** What needs nobody's approval does not wait; what may need one takes no place before it does. */
async function hasRoom(
  limiter: PendingLimiter,
  caller: string,
  asks: Asks,
  pending: number,
): Promise<boolean> {
  switch (asks) {
    case 'never':
      return true;
    case 'perhaps':
      return limiter.hasRoom(caller, pending);
    case 'always':
      return (await limiter.admit(caller, 1, pending)).admitted > 0;
  }
}

function checkLink({ name, links }: CallerDeclaration, link: string | undefined): string | undefined {
  if (link === undefined) return undefined;
  const url = URL.canParse(link) ? new URL(link) : undefined;
  const isListed = url?.protocol === 'https:' && url.username === '' && links.includes(url.host);
  return isListed ? undefined : `The link is not https at one of the hosts in "links" of ${name}.`;
}
