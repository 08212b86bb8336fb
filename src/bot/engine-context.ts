import type { ToolContext } from '../agent/tool.ts';
import { checkedPeople } from '../engine/asks/checked-people.ts';
import type { EngineContext, GrantUsed } from '../engine/ports.ts';
import type { TaskPeople } from '../engine/task-people.ts';
import { toolContext } from '../engine/turns/tool-context.ts';
import { readableName } from '../tools/presentation/formats.ts';
import { presentCall } from './asks/plan/present-call.ts';
import type { BotContext } from './context.ts';
import { limits } from './slack/limits.ts';
import { placeIn } from './slack/thread.ts';
import { grantTexts } from './views/texts/grants.ts';
import { reasonTexts } from './views/texts/reasons.ts';
import { showLabel } from './views/texts/show-text.ts';

/** Makes Slack a door into the engine: its people and its words. */
export function engineContext(context: BotContext): EngineContext {
  const { store, toolbox, logger, directory, agent } = context;
  return {
    store,
    toolbox,
    logger,
    people: checkedPeople(directory, agent),
    describeRefusal: (refusal) => reasonTexts(refusal).why,
    tellOfGrant: (used) => tellOfGrant(context, used),
  };
}

/** Says in the thread what ran without a card of its own, and who had allowed it. */
async function tellOfGrant(
  { store, toolbox, directory }: Pick<BotContext, 'store' | 'toolbox' | 'directory'>,
  { grant: { grant, by, uses, call }, threadId, tool, input, used, end }: GrantUsed,
): Promise<void> {
  const entry = toolbox.find(tool);
  const presented = entry && (await presentCall(directory, entry, input));
  const written = (end === 'succeeded' ? presented?.done : undefined) ?? presented?.title;
  const title = showLabel(written ?? readableName(tool), limits.description);
  await store.enqueueOutbox(threadId, {
    id: `${grant}/${call}`,
    body: {
      kind: 'titled',
      ...placeIn(threadId),
      text: grantTexts.icon[end],
      title,
      tail: grantTexts.used[end],
      people: by,
      end: grantTexts.count(used, uses),
    },
  });
}

/** Builds the context of every tool call of a thread. */
export function callContext(
  { toolbox, callbacks }: Pick<BotContext, 'toolbox' | 'callbacks'>,
  threadId: string,
  people: TaskPeople,
): ToolContext {
  return toolContext({ toolbox, callbackUrl: (call) => callbacks.make(call) }, threadId, people);
}
