import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { JsonObject } from '../../agent/json.ts';
import { JsonRecord } from '../../agent/json-schema.ts';
import type { Message, ResponsePart } from '../../agent/messages.ts';
import type { ModelReply } from '../../agent/model.ts';

/** The wish of a person to take back an action; it stands in their message, so that every process makes the same call of it. */
const Undone = z.object({
  requestId: z.string(),
  /** The words of the action that is taken back. */
  title: z.string(),
  tool: z.string(),
  input: JsonRecord,
});
export type Undone = Readonly<z.infer<typeof Undone>>;

const Marked = z.object({ user: z.string().catch(''), undoes: Undone });

/** Returns the id of the call that takes back the action of a request. */
function refOf({ requestId }: Undone): string {
  return `undo_${createHash('sha256').update(requestId).digest('hex').slice(0, 32)}`;
}

/** Writes the mark of an inbox item with which a person takes back an action. */
export function undoMark(undone: Undone): JsonObject {
  return { undoes: { ...undone } };
}

/**
 * Builds the answer that stands in place of the model's when people have just clicked Undo: the reverse calls, as code has computed
 * them. They go through the gate like any other call. `undefined` if nobody has.
 */
export function undoReply(history: readonly Message[]): ModelReply | undefined {
  const unread = history.slice(history.findLastIndex(({ role }) => role !== 'user') + 1);
  const calls = marksIn(unread).map((undone) => ({
    id: refOf(undone),
    name: undone.tool,
    arguments: JSON.stringify(undone.input),
  }));
  if (calls.length === 0) return undefined;
  return { finish: 'stop', text: '', calls, usage: undefined };
}

/** Finds the action that a call takes back; `undefined` if the call is the model's own. */
export function undoneBy(history: readonly Message[], ref: string): Undone | undefined {
  return marksIn(history).find((undone) => refOf(undone) === ref);
}

/** The end of an undo: the action, who asked for it, and whether it was taken back. */
export interface EndedUndo {
  readonly requestId: string;
  readonly by: string;
  readonly isDone: boolean;
}

/**
 * Finds the undos whose calls have their results by the end of a turn: after the model's last answer before it, since the results of
 * approved calls are there. One may be found by two turns.
 */
export function endedUndos(before: readonly Message[], messages: readonly Message[]): readonly EndedUndo[] {
  const lately = messages.slice(before.findLastIndex(({ role }) => role === 'model') + 1);
  const results = new Map(
    lately.flatMap((message) =>
      message.role === 'tool'
        ? message.content.flatMap((part) =>
            'toolResponse' in part ? [[part.toolResponse.ref, hasRun(part)] as const] : [],
          )
        : [],
    ),
  );
  if (results.size === 0) return [];
  return markedIn(messages).flatMap(({ user, undoes }) => {
    const isDone = results.get(refOf(undoes));
    return isDone === undefined ? [] : [{ requestId: undoes.requestId, by: user, isDone }];
  });
}

/** A call that was closed because people, or its tool, found out that it had run has run. */
const FoundOut = z.object({ status: z.literal('ran') });

function hasRun({ status, toolResponse }: ResponsePart): boolean {
  return status === 'ok' || (status === 'closed' && FoundOut.safeParse(toolResponse.output).success);
}

function marksIn(messages: readonly Message[]): Undone[] {
  return markedIn(messages).map(({ undoes }) => undoes);
}

function markedIn(messages: readonly Message[]) {
  return messages.flatMap((message) => {
    if (message.role !== 'user' || message.metadata?.undoes === undefined) return [];
    const marked = Marked.safeParse(message.metadata).data;
    return marked === undefined ? [] : [marked];
  });
}
