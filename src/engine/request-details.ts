import { z } from 'zod';
import { waitingInside } from '../agent/calls/nested.ts';
import { type JsonObject, type JsonValue, toJson } from '../agent/json.ts';
import { type CallPart, Interrupt, type Message } from '../agent/messages.ts';
import { REVERSIBLE } from '../policy/reversible.ts';
import type { RequestRecord } from '../store/port/store.ts';
import { waitingAnswerOf } from '../tools/waiting-answer.ts';

/** A text that a card can do without: one that does not fit is left out. */
const Text = z.string().min(1).optional().catch(undefined);

const PresentedField = z.object({
  label: z.string(),
  text: z.string(),
  format: z.string().optional(),
  /** The argument that the field shows as it is. */
  argument: z.string().optional(),
});

const PresentedCall = z.object({
  title: z.string(),
  done: z.string().optional(),
  target: z.string().optional(),
  fields: z.array(PresentedField),
  /** The arguments that an edit changed, as the card writes them. */
  changes: z.array(z.object({ label: z.string(), before: z.string(), after: z.string() })).optional(),
  /** The first times of the call: what it is called, what kind of target it has, and for whom it is one. */
  first: z
    .object({
      act: z.string(),
      days: z.number(),
      of: z.string().optional(),
      /** Whether nobody has called the tool for this target. */
      isTarget: z.literal(true).optional(),
      /** The requesters who have not called the tool, and those who have not called it for this target. */
      byTool: z.array(z.string()),
      byPair: z.array(z.string()),
    })
    .optional(),
  /** The change that the call would make, computed when the request was made. */
  preview: z
    .discriminatedUnion('outcome', [
      z.object({
        outcome: z.literal('shown'),
        before: z.string(),
        after: z.string(),
        value: z.custom<JsonValue>((value) => value !== undefined).optional(),
      }),
      z.object({ outcome: z.literal('failed'), reason: z.enum(['too-slow', 'error']) }),
    ])
    .optional(),
  /** The preview that people approved before it changed. */
  previousPreview: z.object({ before: z.string(), after: z.string() }).optional(),
  hasTitle: z.boolean(),
  isComplete: z.boolean(),
});

/** The person in whose name a call runs at a server. */
const RunsAs = z.object({ person: z.string(), server: z.string() });
/** Whether answers to a call's server are approved too before they are sent. */
const Answers = z.enum(['approved', 'free']);

const PlannedStep = z.object({
  /** The id of its request. */
  id: z.string(),
  number: z.number(),
  tool: z.string(),
  presented: PresentedCall,
  input: z.custom<JsonValue>((value) => value !== undefined),
  /** Whether it is asked by itself, and the plan waits there. */
  alone: z.boolean(),
  /** The time after its success in which it can be undone, and whether it can be taken back at all. */
  undoMs: z.number().optional(),
  reversible: z.enum(REVERSIBLE).optional(),
  /** In whose name it runs, and whether answers to its server are approved too. */
  runsAs: RunsAs.optional(),
  answers: Answers.optional(),
});

/** A plan as its card shows it. */
const PlannedSteps = z.object({
  /** The model's words. */
  goal: z.string(),
  steps: z.array(PlannedStep),
  /** The steps of a plan that stopped, for what is left of it: how each ended. */
  before: z.array(z.object({ title: z.string(), outcome: z.string() })).optional(),
  /** The number of covered steps that fit a limit, if not all did when the plan was made. */
  fits: z
    .object({
      steps: z.number(),
      limit: z.object({
        sum: z.string().optional(),
        per: z.enum(['requester', 'channel', 'tool']),
        windowMs: z.number(),
        max: z.number(),
      }),
    })
    .optional(),
  /** The digest of the plan as it is shown, without its steps. */
  shown: z.string(),
});
export type PlannedSteps = Readonly<z.infer<typeof PlannedSteps>>;

const ReadFile = z.object({
  name: z.string(),
  type: z.string().optional(),
  size: z.number().optional(),
  sha256: z.string(),
});
/** A file that the model read. */
export type ReadFile = Readonly<z.infer<typeof ReadFile>>;

/** The origin of a request: its thread, its requesters, and the model's explanation. */
export interface RequestOrigin {
  readonly threadId: string;
  readonly requesters: readonly string[];
  readonly contextAuthors: readonly string[];
  readonly why: string;
  /** The files that the model read for the task. */
  readonly files: readonly ReadFile[];
  /** The action that the call takes back, if a person clicked Undo. */
  readonly undoes?: { readonly requestId: string; readonly title: string } | undefined;
  /** The link to the job of the caller that asks. */
  readonly link?: string | undefined;
}

/** Lists the files that the model read for the present task; one that was only named has no hash. */
export function filesReadIn(messages: readonly Message[]): readonly ReadFile[] {
  return messages.flatMap((message) => {
    const file = message.role === 'user' ? message.metadata?.file : undefined;
    const { data } = file === undefined ? {} : ReadFile.safeParse(file);
    return data === undefined ? [] : [data];
  });
}

const Details = z.object({
  interrupt: Interrupt,
  idempotencyKey: z.string(),
  /** The call in words, made with the request. */
  presented: PresentedCall,
  /** The people who could approve when the request was made; missing if Slack could not be asked. */
  approvers: z.array(z.string()).optional(),
  /** The number of approvers with a passkey that counts; only where approving takes one. */
  keyed: z.number().optional(),
  /** The status in Slack of approvers when the request was made, by person; for show only. */
  statuses: z.record(z.string(), z.string()).optional(),
  /** The model's input, if another one waits for approval. */
  originalInput: z.custom<JsonValue>((value) => value !== undefined).optional(),
  /** The people whose words the model read beside the requesters'. */
  contextAuthors: z.array(z.string()).optional(),
  /** The files that the model read for the task, with the hash of what it saw. */
  files: z.array(ReadFile).optional(),
  /** The person who changed the arguments last. */
  editedBy: Text,
  /** The tool's description. */
  description: Text,
  /** The model's explanation beside the call. */
  why: Text,
  /** The rule that requires approval, if the interrupt does not name it. */
  rule: Text,
  /** The digest of a request among whose choices approvers choose, as it is shown to them. */
  shown: Text,
  /** The reason for which approval is needed, in words. */
  because: Text,
  /** The person in whose name the call runs at a server. */
  runsAs: RunsAs.optional(),
  /** Whether answers to the call's server are approved too before they are sent; missing for a call without a server. */
  answers: Answers.optional(),
  /** Whether the call, and each call inside it that waits, can be taken back; missing counts as not. */
  reversible: z.enum(REVERSIBLE).optional(),
  /** The time after its success in which the action can be undone; missing if nothing undoes it. */
  undoMs: z.number().optional(),
  /** The action that this one takes back. */
  undoes: z.object({ requestId: z.string(), title: z.string() }).optional(),
  /** The link to the job of the caller that asks. */
  link: z.url({ protocol: /^https$/ }).optional(),
  /** The purpose of a form or a callback. */
  purpose: Text,
  /** The place among the requests of its turn, in the order of the calls, and the request before it; missing for a single one. */
  place: z.object({ number: z.number(), of: z.number(), after: z.string().optional() }).optional(),
  /** The steps of a plan. */
  plan: PlannedSteps.optional(),
  /** The part of the policy that the card shows; the record itself has the approvers. */
  policy: z
    .object({
      name: Text,
      risk: z.enum(['low', 'medium', 'high']).optional(),
      confirm: z.union([z.boolean(), z.literal('passkey')]).optional(),
      /** Whether the tool paused by itself, behind its gate. */
      own: z.boolean(),
      /** The terms on which approvers may allow the same again. */
      grants: z
        .object({
          forMs: z.number(),
          uses: z.number(),
          scope: z.enum(['thread', 'requester']),
          when: z.string().optional(),
          covers: z.string().optional(),
        })
        .optional(),
    })
    .optional(),
});
/** The call of a request: enough to draw its card and to run it. */
export type Details = z.infer<typeof Details>;

const Fields = z.custom<JsonObject>();

/** Parses the details of a request; throws if the call cannot be read. */
export function detailsOf(request: Pick<RequestRecord, 'details'>): Details {
  return Details.parse(request.details);
}

/** Parses the details of a request; `undefined` if the call cannot be read. */
export function readDetails(request: Pick<RequestRecord, 'details'>): Details | undefined {
  return Details.safeParse(request.details).data;
}

/** Builds the details of a new request. */
export function toDetails(
  call: CallPart,
  interrupt: Interrupt,
  shown: Omit<Details, 'interrupt' | 'idempotencyKey' | 'originalInput'>,
): JsonObject {
  const original = call.toolRequest.input;
  const waiting = interrupt.toolRequest.input;
  const changed = original !== waiting && JSON.stringify(original) !== JSON.stringify(toJson(waiting));
  const { idempotencyKey } = call;
  const details = { interrupt, idempotencyKey, ...(changed && { originalInput: original }), ...shown };
  return Fields.parse(toJson(details));
}

/** Lists the calls that an approval of a pause lets run inside the tool; `undefined` if it lets the call itself run. */
export function innerCalls(interrupt: Interrupt): readonly InnerCall[] | undefined {
  const inner = waitingInside(interrupt).map(({ toolRequest: { name, input } }) => ({
    tool: name,
    arguments: toJson(input),
  }));
  return inner.length === 0 ? undefined : inner;
}

/** A call of a `generate` inside a tool. */
export type InnerCall = { readonly tool: string; readonly arguments: JsonValue };

/** Returns the arguments that an approval covers: those of the call, after those of calls inside it, or an answer to its server. */
export function approvedArguments(interrupt: Interrupt): JsonValue {
  const { name, input } = interrupt.toolRequest;
  const answer = waitingAnswerOf(interrupt);
  if (answer !== undefined) return { answers: answer.words, arguments: toJson(input) };
  const inner = innerCalls(interrupt);
  if (inner === undefined) return toJson(input);
  const calls = inner.map((call, index) => [
    inner.length === 1 ? call.tool : `${index + 1}. ${call.tool}`,
    call.arguments,
  ]);
  return Object.fromEntries([...calls, [`inside ${name}`, toJson(input)]]);
}

/** Returns the call of a request as the model made it. */
export function callOf({ interrupt, idempotencyKey, originalInput }: Details): CallPart {
  const { name, ref, input } = interrupt.toolRequest;
  return { toolRequest: { name, ref, input: originalInput ?? toJson(input) }, idempotencyKey };
}

/** Returns the name of the tool that a request is about; '' if its details cannot be read. */
export function toolOf(request: Pick<RequestRecord, 'details'>): string {
  return readDetails(request)?.interrupt.toolRequest.name ?? '';
}
