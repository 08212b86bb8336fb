import { z } from 'zod';
import { ReplyError } from '../../agent/errors.ts';
import { type JsonValue, tryParseJson } from '../../agent/json.ts';
import type { Interrupt, Message } from '../../agent/messages.ts';
import { buildRespond, buildRestart, closeInterrupt, type Resume } from '../../agent/replies.ts';
import type { Tool } from '../../agent/tool.ts';
import { Transcript } from '../../agent/transcript.ts';
import type { Settlement } from '../../store/port/store.ts';
import { editorOf, type GateResumed } from '../../tools/gate/gate.ts';
import { consentOf } from '../../tools/mcp/auth/person/ask-for-consent.ts';
import { elicitationOf } from '../../tools/mcp/server-pause.ts';
import { replyToServer } from '../elicitation/reply-to-server.ts';
import { isSlackPerson } from '../slack/directory.ts';
import { classifyInterrupt } from './classify-interrupt.ts';

/** The reason of a request that ends because one of its requesters is deactivated or may no longer ask. */
export const REQUESTER_INACTIVE = 'requester-inactive';
/** The reason of a request that ends because not everyone who asked for it may use the tool any more. */
export const NOT_ALLOWED = 'not-allowed';
/** The reason of a request whose rule, policy or tool has changed; it is asked anew. A second line may say what changed. */
export const CHANGED = 'changed';

const Edited = z.object({
  edited: z.custom<JsonValue>((value) => value !== undefined),
  by: z.string(),
});
type Edited = z.infer<typeof Edited>;

/** Writes the payload of a request that was superseded by an edit. */
export function editedPayload(edited: JsonValue, by: string): string {
  return JSON.stringify({ edited, by } satisfies Edited);
}

const PreviewChange = z.object({ previewChanged: z.object({ before: z.string(), after: z.string() }) });

/** Writes the payload of a request whose preview is no longer true; it holds the preview that people approved. */
export function previewChangedPayload({ before, after }: { before: string; after: string }): string {
  return JSON.stringify({ previewChanged: { before, after } });
}

/** Parses the payload of a request whose preview changed; `undefined` if it is none. */
export function parsePreviewChange(payload: string): z.infer<typeof PreviewChange> | undefined {
  return PreviewChange.safeParse(tryParseJson(payload)).data;
}

/** Turns ended requests into replies. An action that ran has its result in the messages already. */
export function repliesTo(
  settled: readonly Settlement[],
  messages: readonly Message[],
  tools: readonly Tool[],
): Resume {
  const waiting = new Map(
    Transcript.latestRound(messages, { mayBeOpen: true }).interrupts.map((interrupt) => [
      interrupt.id,
      interrupt,
    ]),
  );
  const replies = settled.flatMap((settlement): Resume[] => {
    const interrupt = waiting.get(settlement.requestId.slice(settlement.requestId.lastIndexOf('~') + 1));
    if (interrupt === undefined) return [];
    return [
      replyTo(
        settlement,
        interrupt,
        tools.find(({ name }) => name === interrupt.toolRequest.name),
      ),
    ];
  });
  return {
    respond: replies.flatMap(({ respond = [] }) => respond),
    restart: replies.flatMap(({ restart = [] }) => restart),
    close: replies.flatMap(({ close = [] }) => close),
  };
}

function replyTo(
  { requestId, state, by, payload }: Settlement,
  interrupt: Interrupt,
  tool: Tool | undefined,
): Resume {
  const close = (status: string, what: string, why = payload): Resume => ({
    close: [closeInterrupt(interrupt, status, why === '' ? what : `${what}: ${why}`)],
  });
  const asked = elicitationOf(interrupt);
  const reply = asked && tool && replyToServer({ requestId, state, by, payload }, interrupt, tool, asked);
  if (reply !== undefined) return reply;
  switch (state) {
    case 'answered':
      // An account was connected: the call is made again, and its gate decides as for a new one.
      if (consentOf(interrupt) !== undefined && tool?.kind === 'tool')
        return { restart: [buildRestart(tool, interrupt, {}, {})] };
      return tool === undefined
        ? close('failed', 'The tool is gone', '')
        : (respondTo(tool, interrupt, payload, by) ??
            close('failed', 'The answer does not fit what was asked', ''));
    case 'superseded':
      if (payload === REQUESTER_INACTIVE)
        return close('superseded', 'A person who requested this is no longer active', '');
      if (payload === NOT_ALLOWED)
        return close(
          'superseded',
          'Someone taking part in this task is no longer allowed to use this tool',
          '',
        );
      return tool?.kind === 'tool'
        ? (askAnew(tool, interrupt, payload) ??
            close('failed', 'The edited arguments do not fit the tool any more', ''))
        : close('superseded', 'The request no longer holds');
    case 'rejected':
      return close('denied', `Rejected by ${by}`);
    case 'resolved': {
      const [verdict = 'unknown', ...reason] = payload.split('\n');
      return close(verdict, 'The outcome was unknown, and a person found out', reason.join('\n'));
    }
    default:
      return close(state, `The request is ${state}`);
  }
}

/** Builds the response; `undefined` if the answer no longer fits the tool, which must not block the thread. */
function respondTo(tool: Tool, interrupt: Interrupt, payload: string, by: string): Resume | undefined {
  try {
    const reply = buildRespond(tool, interrupt, JSON.parse(payload));
    // An external system that reports back is nobody whose words count.
    if (!isSlackPerson(by)) return { respond: [reply] };
    return { respond: [{ ...reply, metadata: { ...reply.metadata, answeredBy: by } }] };
  } catch (error) {
    if (error instanceof ReplyError) return undefined;
    throw error;
  }
}

/** Restarts the call, so that its gate asks again, after an edit for the new input; `undefined` if the tool no longer takes that input. */
function askAnew(tool: Tool, interrupt: Interrupt, payload: string): Resume | undefined {
  const edited = parseEdited(payload);
  // An edited input needs approval however often it is asked anew.
  const by = edited?.by ?? editorOf(interrupt);
  const previousPreview = parsePreviewChange(payload)?.previewChanged;
  if (by === undefined && previousPreview === undefined)
    return { restart: [buildRestart(tool, interrupt, {}, {})] };
  const pause = classifyInterrupt(interrupt);
  const policy = pause.kind === 'approval' ? pause.policy : 'default';
  const resumed: GateResumed =
    previousPreview === undefined
      ? { decision: 'edited', by: by ?? '', policy }
      : { decision: 'changed', by: by ?? null, policy, previousPreview };
  const replacement = edited === undefined ? {} : { replaceInput: edited.edited };
  try {
    return { restart: [buildRestart(tool, interrupt, { ...resumed }, replacement)] };
  } catch (error) {
    if (error instanceof ReplyError) return undefined;
    throw error;
  }
}

/** Parses the payload of a request that was superseded by an edit; `undefined` if it is none. */
export function parseEdited(payload: string): Edited | undefined {
  try {
    return Edited.safeParse(JSON.parse(payload)).data;
  } catch {
    return undefined;
  }
}
