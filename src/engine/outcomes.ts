import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonValue } from '../agent/json.ts';
import type { Reconciled, Tool } from '../agent/tool.ts';
import { backOffMs, limitTime, orAbort } from '../agent/util/abort.ts';
import type { EffectRecord } from '../store/port/values.ts';
import type { EngineContext } from './ports.ts';

const RETRY_BACK_OFF = { firstMs: 500, longestMs: 10_000 };

/** The longest look-up of a tool that sets no time of its own. */
const LONGEST_LOOK_UP_MS = 30_000;

/**
 * Tells whether a start or a lease that was sent at a time, by this process's monotonic clock, still holds. After that another process may
 * have taken over, so a process that learns of it too late must not act on it.
 */
export function isInTime(sentAt: number, holdsForMs: number): boolean {
  return performance.now() - sentAt < holdsForMs;
}

/** Waits before a call with an unclear end is tried again. */
export async function waitToRetry(attempts: number): Promise<void> {
  await sleep(backOffMs(attempts, RETRY_BACK_OFF));
}

/** Tells whether a started call may run once more with the same key: only an idempotent one, within its attempts and its time. */
export function mayRunAgain(
  { toolbox }: Pick<EngineContext, 'toolbox'>,
  { runs, firstStart }: Pick<EffectRecord, 'runs' | 'firstStart'>,
  tool: Tool,
): boolean {
  const execution = toolbox.find(tool.name)?.execution;
  if (tool.kind !== 'tool' || tool.effect !== 'idempotent' || execution === undefined) return false;
  return runs < execution.maxAttempts && Date.now() - firstStart < execution.retryForMs;
}

/** A signal that stops a look-up, and the time that it then has to end. */
interface Stop {
  readonly signal: AbortSignal;
  readonly graceMs: number;
}

/** Lets the tool look up whether a call took effect; a look-up that fails, or does not end in its time, tells nothing. */
export async function lookUp(
  { logger }: Pick<EngineContext, 'logger'>,
  tool: Tool | undefined,
  { idempotencyKey, input }: { readonly idempotencyKey: string; readonly input: JsonValue },
  { signal, graceMs }: Stop = { signal: new AbortController().signal, graceMs: 0 },
): Promise<Reconciled> {
  if (tool?.kind !== 'tool' || tool.reconcile === undefined) return 'unknown';
  const fit = tool.inputSchema.parse(input);
  // A tool may throw before it gives a promise.
  const look = async () => tool.reconcile?.(idempotencyKey, fit.ok ? fit.value : {});
  const limit = limitTime(signal, tool.timeoutMs ?? LONGEST_LOOK_UP_MS);
  try {
    return (await orAbort(look(), limit.signal, () => (limit.isOver() ? 0 : graceMs))) ?? 'unknown';
  } catch (err) {
    logger.warn({ tool: tool.name, idempotencyKey, err }, 'reconcile failed');
    return 'unknown';
  } finally {
    limit.end();
  }
}
