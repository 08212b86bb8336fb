import type { JsonValue } from '../../agent/json.ts';
import type { Reconciled, Tool } from '../../agent/tool.ts';
import { limitTime, orAbort } from '../../agent/util/abort.ts';
import type { BotContext } from '../context.ts';

/** The longest look-up of a tool that sets no time of its own. */
const LONGEST_LOOK_UP_MS = 30_000;

/** A signal that stops a look-up, and the time that it then has to end. */
interface Stop {
  readonly signal: AbortSignal;
  readonly graceMs: number;
}

/** Lets the tool look up whether a call took effect; a look-up that fails, or does not end in its time, tells nothing. */
export async function lookUp(
  { logger }: Pick<BotContext, 'logger'>,
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
