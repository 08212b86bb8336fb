import type { Tool } from '../../agent/tool.ts';
import type { EffectRecord } from '../../store/port/store.ts';
import type { BotContext } from '../context.ts';

/** Tells whether a started call may run once more with the same key: only an idempotent one, within its attempts and its time. */
export function mayRunAgain(
  { toolbox }: Pick<BotContext, 'toolbox'>,
  { runs, firstStart }: Pick<EffectRecord, 'runs' | 'firstStart'>,
  tool: Tool,
): boolean {
  const execution = toolbox.find(tool.name)?.execution;
  if (tool.kind !== 'tool' || tool.effect !== 'idempotent' || execution === undefined) return false;
  return runs < execution.maxAttempts && Date.now() - firstStart < execution.retryForMs;
}
