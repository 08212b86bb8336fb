import { z } from 'zod';
import { JsonRecord } from '../../../agent/json-schema.ts';
import { type Message, readMessages, readToolPart } from '../../../agent/messages.ts';
import { refuseNewer } from '../../errors.ts';
import { requestIdOf } from '../../port/keys.ts';
import { readPart, SettledState } from '../../port/request-record.ts';
import type { ClaimResult, SuspendResult } from '../../port/results.ts';
import type { ClaimedTurn, EffectRecord, InboxItem, Settlement } from '../../port/values.ts';
import { pack, type RunScript, type ThreadLog } from '../run-script.ts';
import type { ScriptReply } from '../script-reply.ts';
import { quarantine } from './quarantine.ts';

const THREAD_VERSION = 1;
const Version = z.literal(String(THREAD_VERSION));
const Item = z.strictObject({
  id: z.string(),
  body: JsonRecord,
});

/** Reads one item of an inbox. */
export function readItem(row: string): InboxItem {
  return Item.parse(JSON.parse(row));
}

/** Reads the reply of `claim-turn`. A record that cannot be read quarantines its own thread and no other. */
export async function readClaim(
  run: RunScript,
  threadId: string,
  reply: ScriptReply,
  log: ThreadLog,
): Promise<ClaimResult> {
  switch (reply.code) {
    case 'claimed': {
      try {
        refuseNewer(`The thread ${threadId}`, reply.string(5), THREAD_VERSION);
      } catch (error) {
        // A process that can read it claims it at once, and nobody takes this claim for one that ended with its process.
        await run('release', { threadId, args: [pack({ token: reply.string(1) })] });
        throw error;
      }
      const rows = await log.ofLength(reply.number(2));
      try {
        return { outcome: 'claimed', turn: parseTurn(threadId, reply, readMessages(rows)) };
      } catch (error) {
        const reason = await quarantine(run, threadId, 'The record of this thread', error);
        return { outcome: 'quarantined', reason };
      }
    }
    case 'died':
      return { outcome: 'died', token: reply.string(1) };
    case 'busy':
      return { outcome: 'busy', until: reply.number(1) };
    case 'waiting':
      return { outcome: 'waiting', requests: reply.number(1) };
    case 'quarantined':
      return { outcome: 'quarantined', reason: reply.string(1) };
    default:
      return { outcome: 'idle' };
  }
}

/** Reads the turn that a joined script claimed beside its own result, if there is one that can be read. */
export async function readClaimedTurn(
  run: RunScript,
  threadId: string,
  reply: ScriptReply | undefined,
  log: ThreadLog,
): Promise<ClaimedTurn | undefined> {
  const claimed = reply === undefined ? undefined : await readClaim(run, threadId, reply, log);
  return claimed?.outcome === 'claimed' ? claimed.turn : undefined;
}

/** Reads the reply of `suspend` to a call with these requests. */
export function readSuspended(threadId: string, ids: readonly string[], reply: ScriptReply): SuspendResult {
  switch (reply.code) {
    case 'suspended': {
      const pairs = reply.strings(3);
      const withdrawn = pairs.flatMap((interruptId, index) =>
        index % 2 === 1
          ? []
          : [{ requestId: requestIdOf(threadId, interruptId), by: pairs[index + 1] ?? '' }],
      );
      const counts = { waiting: reply.number(1), unread: reply.number(2) };
      return { outcome: 'suspended', ...counts, ...(withdrawn.length > 0 && { withdrawn }) };
    }
    case 'existing':
      return { outcome: 'existing-request', requestId: ids[reply.number(1)] ?? '' };
    default:
      return { outcome: 'stale' };
  }
}

function parseTurn(threadId: string, reply: ScriptReply, messages: readonly Message[]): ClaimedTurn {
  readPart('v', () => Version.parse(reply.string(5)));
  return {
    threadId,
    token: reply.string(1),
    messages,
    inbox: reply.list(3).map(readItem),
    settled: parseSettled(threadId, reply.list(4)),
    effects: parseEffects(reply.list(6)),
    ...(reply.string(7) === '1' && { isStopped: true as const }),
  };
}

/** The fields of a Run as `claim-turn` gives them. */
const CALL_FIELDS = 6;
const CallState = z.enum(['running', 'paused', 'succeeded', 'failed', 'unknown']);

function parseEffects(fields: readonly string[]): EffectRecord[] {
  const starts = fields.flatMap((_, index) => (index % CALL_FIELDS === 0 ? [index] : []));
  const effects = starts.map((start): EffectRecord => {
    const [ref = '', stored, run = '', runs, firstStart, part = ''] = fields.slice(
      start,
      start + CALL_FIELDS,
    );
    const state = readPart(`The state of the call ${ref}`, () => CallState.parse(stored));
    const base = { ref, run, runs: Number(runs), firstStart: Number(firstStart) };
    if (state === 'running') return { ...base, state: 'started' };
    return {
      ...base,
      state: state === 'paused' ? 'paused' : 'finished',
      part: readPart(`The result of the call ${ref}`, () => readToolPart(JSON.parse(part))),
    };
  });
  return effects.sort((a, b) => (a.ref < b.ref ? -1 : 1));
}

function parseSettled(threadId: string, pairs: readonly string[]): Settlement[] {
  return pairs.flatMap((interruptId, index) => {
    const value = pairs[index + 1];
    if (index % 2 === 1 || value === undefined) return [];
    const requestId = requestIdOf(threadId, interruptId);
    const [state = '', by = '', ...payload] = value.split('\n');
    const known = readPart(`The state of ${requestId}`, () => SettledState.parse(state));
    return [{ requestId, state: known, by, payload: payload.join('\n') }];
  });
}
