import { OUTCOME_UNKNOWN } from '../../agent/calls/journal.ts';
import { toJson } from '../../agent/json.ts';
import type { Message } from '../../agent/messages.ts';
import { readDetails } from '../../engine/request-details.ts';
import { sinceAnswer } from '../../engine/task-people.ts';
import type { RequestRecord } from '../../store/port/request-record.ts';
import type { OutboxRow } from '../../store/port/values.ts';
import type { ToolEntry } from '../../tools/toolbox/toolbox.ts';
import type { BotContext } from '../context.ts';
import { limits } from '../slack/limits.ts';
import { parseThreadId } from '../slack/thread.ts';
import { titleOf } from '../views/cards/card-details.ts';
import { replyTexts } from '../views/texts/replies.ts';
import { showLabel } from '../views/texts/show-text.ts';

/** The actions of a task, in words: those that have run, and those of which nobody knows. */
interface TaskActions {
  readonly ran: readonly string[];
  readonly unknown: readonly string[];
}

/** The open requests that a stop has found: those it has ended, and those that it was too late for. */
export interface StoppedRequests {
  readonly withdrawn: readonly string[];
  readonly running: readonly string[];
  /** Those that run and were told to stop. */
  readonly told?: readonly string[];
}

const NONE: StoppedRequests = { withdrawn: [], running: [] };

/** Says what a stop has ended and what had run before it, from the messages of the task and never from the model's words. */
export function stopText(
  { toolbox }: Pick<BotContext, 'toolbox'>,
  messages: readonly Message[],
  { withdrawn, running }: StoppedRequests = NONE,
): string {
  const { ran, unknown } = actionsIn(toolbox, messages);
  return replyTexts.stopped({ withdrawn, running, ran, unknown });
}

/**
 * Tells the thread what a stop has done to its open requests; a turn that was running says so itself. `stopId` tells apart the stops of an
 * action that goes on.
 */
export async function reportStop(
  context: Pick<BotContext, 'toolbox' | 'store'>,
  threadId: string,
  { withdrawn, running, told = [] }: StoppedRequests,
  stopId = '',
): Promise<void> {
  const [first] = [...withdrawn.toSorted(), ...running];
  if (first === undefined) return;
  const { store } = context;
  const [ended, going] = [await loadAll(store, withdrawn), await loadAll(store, running)];
  const text =
    ended.length === 0
      ? replyTexts.notStopped(
          titles(going),
          going.some((request) => readDetails(request)?.facets.undo?.withinMs !== undefined),
          running.every((id) => told.includes(id)),
        )
      : stopText(context, (await store.readThread(threadId)).messages, {
          withdrawn: titles(ended),
          running: titles(going),
        });
  await store.enqueueOutbox(threadId, {
    id: `${threadId}/stopped-${first}${ended.length === 0 ? stopId : ''}`,
    body: { kind: 'plain', ...parseThreadId(threadId), text },
  });
}

/**
 * Builds the notice of a stop for the turn that reads what the stop has ended. If the stop was told before, the row is the same one and
 * is not sent again; a stop that came while people were about to be asked found nothing to tell of.
 */
export async function stopRows(
  context: Pick<BotContext, 'toolbox' | 'store'>,
  threadId: string,
  ids: readonly string[],
  messages: readonly Message[],
): Promise<OutboxRow[]> {
  const [first] = ids.toSorted();
  if (first === undefined) return [];
  const withdrawn = titles(await loadAll(context.store, ids));
  const text = stopText(context, messages, { withdrawn, running: [] });
  return [{ id: `${threadId}/stopped-${first}`, body: { kind: 'plain', ...parseThreadId(threadId), text } }];
}

async function loadAll(store: BotContext['store'], ids: readonly string[]): Promise<RequestRecord[]> {
  const loaded = await Promise.all(ids.map((id) => store.load(id)));
  return loaded.flatMap((each) => (each.outcome === 'found' ? [each.request] : []));
}

function titles(requests: readonly RequestRecord[]): string[] {
  return requests.map((request) => titleOf(request));
}

function actionsIn(toolbox: BotContext['toolbox'], messages: readonly Message[]): TaskActions {
  const inputs = new Map<string, unknown>();
  const [ran, unknown]: [string[], string[]] = [[], []];
  for (const message of sinceAnswer(beforeAnswer(messages))) {
    if (message.role === 'user') continue;
    for (const part of message.content) {
      if ('toolRequest' in part) inputs.set(part.toolRequest.ref, part.toolRequest.input);
      else if ('interrupt' in part) {
        const { name, input } = part.interrupt.toolRequest;
        if (part.interrupt.metadata?.[OUTCOME_UNKNOWN] !== undefined)
          unknown.push(...describe(toolbox.find(name), input, 'title'));
      } else if ('toolResponse' in part && part.status === 'ok') {
        const { name, ref } = part.toolResponse;
        ran.push(...describe(toolbox.find(name), part.input ?? inputs.get(ref), 'done'));
      }
    }
  }
  return { ran, unknown };
}

/** Leaves out the words that the model was writing when it was stopped: they would count as the end of the task. */
function beforeAnswer(messages: readonly Message[]): readonly Message[] {
  const last = messages.findLastIndex(
    (message) => message.role !== 'model' || message.content.some((part) => 'toolRequest' in part),
  );
  return messages.slice(0, last + 1);
}

/** Puts a call with an effect into words; what only reads is not worth a word. */
function describe(entry: ToolEntry | undefined, input: unknown, form: 'title' | 'done'): string[] {
  if (entry?.tool.kind !== 'tool' || entry.tool.effect === 'none') return [];
  const { title, done = title } = entry.presentation.present(toJson(input ?? {}), new Map());
  return [showLabel(form === 'done' ? done : title, limits.label)];
}
