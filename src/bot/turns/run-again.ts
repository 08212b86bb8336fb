import type { ReplacedInput } from '../../agent/calls/outcomes.ts';
import { toJson } from '../../agent/json.ts';
import type { CallPart } from '../../agent/messages.ts';
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

/** Lets the tool look up whether a started call took effect; `undefined` if it cannot tell. */
export async function reconcile(
  { logger }: Pick<BotContext, 'logger'>,
  threadId: string,
  {
    call,
    tool,
    replaced,
  }: { readonly call: CallPart; readonly tool: Tool; readonly replaced: ReplacedInput | undefined },
): Promise<'ran' | 'did-not-run' | undefined> {
  if (tool.kind !== 'tool' || tool.reconcile === undefined) return undefined;
  const input = tool.inputSchema.parse(toJson(replaced?.ran ?? call.toolRequest.input));
  const verdict = await tool
    .reconcile(call.idempotencyKey, input.ok ? input.value : {})
    .catch((err: unknown) => {
      logger.warn({ threadId, err }, 'reconcile failed');
      return 'unknown' as const;
    });
  return verdict === 'unknown' ? undefined : verdict;
}
