import { DefinitionError, requireList } from './errors.ts';
import type { JsonObject, JsonValue } from './json.ts';
import type { Interrupt, Media } from './messages.ts';
import type { PauseRequest } from './pause.ts';
import type { RespondReply, RestartReply } from './replies.ts';
import type { CompiledSchema } from './schema/json-schema.ts';
import type { ToolFile } from './util/tool-files.ts';

/** Values that the caller of `generate` hands to its tools. */
export interface ToolContext {
  readonly [name: string]: unknown;
}

/** The values that the bot hands to its tools as `context`; a tool reads them typed as `{ context }: ToolHelpers<BotToolContext>`. */
export type BotToolContext = {
  /** The person whose message led to the call, as a Slack user id. */
  readonly requester: string;
  /** Everyone whose request the task carries out, the requester first. */
  readonly requesters: readonly string[];
  readonly channel: string;
  readonly threadId: string;
  /** Makes the address at which an external system answers a call that waits. */
  readonly callbackUrl: (idempotencyKey: string) => string;
};

/** The person who answered a pause, and the time of the answer as ISO 8601, where the restart says so. */
export interface Answered {
  readonly by?: string | undefined;
  readonly at?: string | undefined;
}

/** The second argument of a tool's function. */
export interface ToolHelpers<Context extends ToolContext = ToolContext, Resumed = JsonObject> {
  readonly context: Context;
  /** Pauses the loop at this call; nothing after it runs. Other keys than those of a question are metadata for the code that resumes. */
  readonly interrupt: (
    asks?: PauseRequest<JsonObject extends Resumed ? object : Resumed> | JsonObject,
  ) => never;
  /** The metadata given to `restart`; `undefined` on the first run. */
  readonly resumed: Resumed | undefined;
  /** Ends the call as denied; the model sees the reason. */
  readonly deny: (reason: string) => never;
  readonly signal: AbortSignal;
  /** Reports progress of long work; `fraction` goes from 0 to 1. */
  readonly progress: (message: string, fraction?: number) => void;
  /** The same for every attempt of one call. */
  readonly idempotencyKey: string;
  /** The id that the model gave the call. */
  readonly callId: string;
  /** Shows the model an image beside the result; `false` means that it is too large and was left out. */
  readonly attach: (image: Media) => boolean;
  /** Sends a file to the people of the thread when the call has succeeded; `false` means that it is too large, or cannot be sent here. */
  readonly file: (file: ToolFile) => boolean;
}

/**
 * The effect of a run on the world. `none` only reads. `idempotent` means that a repeated run with the same idempotency key has no
 * further effect. A tool with the effect `once` is never run twice for one call.
 */
export const EFFECTS = ['none', 'idempotent', 'once'] as const;
export type Effect = (typeof EFFECTS)[number];

/** Texts for people about a call, computed by code from its input and never by a model. */
export interface ToolTexts<Input> {
  /** Says what will happen, such as "Refund $120.00 of order A-1001". */
  title?(input: Input): string;
  /** Says what has happened, such as "Refunded $120.00 of order A-1001". */
  done?(input: Input): string;
  /** The one value that says what the call touches. */
  target?(input: Input): string;
  /** Values by label. */
  fields?(input: Input): Readonly<Record<string, string | number | undefined>>;
}

/** The change that a call would make, in words or as the text before and after. */
export interface Preview {
  readonly before: string;
  readonly after: string;
}

/** The call that takes back what another one did. */
export interface UndoCall {
  readonly tool: string;
  readonly input: JsonObject;
}

/** The options of a request that only reads. */
export interface ReadingInit {
  readonly method?: 'GET' | 'HEAD';
  readonly headers?: Readonly<Record<string, string>>;
}

/** The second argument of a preview. Nothing in it can write. */
export interface PreviewHelpers {
  readonly context: ToolContext;
  readonly signal: AbortSignal;
  /** Runs another tool that is declared to have no effect; any other is refused. */
  readonly read: (tool: string, input: JsonObject) => Promise<unknown>;
  /** Fetches with GET or HEAD until the signal fires; any other method is refused before a connection. */
  readonly fetch: (url: string | URL, init?: ReadingInit) => Promise<Response>;
}

interface ToolParts<Name extends string, Input, Given> {
  readonly name: Name;
  readonly description: string;
  readonly inputSchema: CompiledSchema<Input>;
  readonly outputSchema: CompiledSchema | undefined;
  /** Tells whether an interrupt belongs to this tool, and types its input. */
  matches(interrupt: Interrupt): interrupt is Interrupt<Name, Given>;
}

/** Runs an admitted call. The evidence goes on record with its start. */
export interface Admitted {
  (): unknown;
  readonly evidence?: JsonObject | undefined;
}

/** A tool as the loop uses it, without its own types. */
export type Tool<Name extends string = string, Input = unknown, Given = unknown> =
  | (ToolParts<Name, Input, Given> & {
      readonly kind: 'interrupt';
      /** Computes the metadata of the interrupt from the input of the call. */
      requestMetadata?(input: Input): JsonObject | Promise<JsonObject>;
    })
  | (ToolParts<Name, Input, Given> & {
      readonly kind: 'tool';
      run(input: Input, helpers: ToolHelpers): unknown;
      /** The schema of the metadata that `restart` gives to the function; without one, it is any object. */
      readonly resumedSchema?: CompiledSchema | undefined;
      /** Tells whether a call waits for a person's yes before it runs. A gate that the tool is behind asks in place of the loop. */
      needsApproval?(input: Input): boolean | Promise<boolean>;
      readonly effect: Effect;
      readonly texts?: ToolTexts<Input>;
      /** Computes what a call would change. It must not write, and it is called before the approval and before the run. */
      preview?(input: Input, helpers: PreviewHelpers): Preview | Promise<Preview>;
      /** Names the call that takes back what a call did, from its input and its output as JSON; `undefined` if none does. */
      undo?(input: Input, output: JsonValue): UndoCall | undefined;
      /** Checks whether the call may run, and may pause or deny it; returns the function that runs it. `run` checks the same. */
      admit?(input: Input, helpers: ToolHelpers): Promise<Admitted>;
      /** Finds out whether a call took effect whose worker died in the middle of it; within `timeoutMs`, or 30 s, or it counts as unknown. */
      reconcile?(idempotencyKey: string, input: Input): Promise<Reconciled>;
      /** The longest run; after it the signal fires, and whether the call took effect is unknown. */
      readonly timeoutMs?: number | undefined;
    });

export type Reconciled = 'ran' | 'did-not-run' | 'unknown';

/** The interrupts that a list of tools can cause, each with its own name and input. */
export type InterruptOf<T extends Tool> = T extends {
  matches(interrupt: Interrupt): interrupt is infer Own extends Interrupt;
}
  ? Own
  : never;

// An interrupt whose static type names another tool does not compile, and the text says why; one read from JSON does.
type Own<Name extends string, Asked extends string> = Name extends Asked
  ? unknown
  : `needs an interrupt of ${Name}; this one is of ${Asked}`;

interface Responds<Name extends string, Output> {
  /** Builds the reply that supplies the output in place of a run. */
  respond<Asked extends string>(interrupt: Interrupt<Asked> & Own<Name, Asked>, output: Output): RespondReply;
}

interface RestartChanges<Given> {
  readonly replaceInput?: Given;
}

interface Restarts<Name extends string, Given, Resumed> {
  /** Builds the reply that runs the tool again, with `resumed` set and, if given, another input. */
  restart<Asked extends string>(
    interrupt: Interrupt<Asked> & Own<Name, Asked>,
    ...given: Record<never, never> extends Resumed
      ? [metadata?: Resumed, options?: RestartChanges<Given>]
      : [metadata: Resumed, options?: RestartChanges<Given>]
  ): RestartReply;
}

/** A tool with a function; `Given`, `Output` and `Resumed` are what its schemas accept, `Input` is what its function gets. */
export type ActionTool<Name extends string, Input, Given, Output, Resumed = JsonObject> = Extract<
  Tool<Name, Input, Given>,
  { kind: 'tool' }
> &
  Responds<Name, Output> &
  Restarts<Name, Given, Resumed>;

/** A tool without a function: its output is always a reply. */
export type InterruptTool<Name extends string, Input, Given, Output> = Extract<
  Tool<Name, Input, Given>,
  { kind: 'interrupt' }
> &
  Responds<Name, Output>;

/** Tools as a list, or by their names. */
export type ToolSet = readonly Tool[] | { readonly [name: string]: Tool };

/** The tools of a list, or of a map by name. */
export type ToolIn<Tools extends ToolSet> = Tools extends readonly (infer Each extends Tool)[]
  ? Each
  : Tools extends { readonly [name: string]: infer Each extends Tool }
    ? Each
    : never;

/** The metadata of the pause of a call that needs approval. */
export const NEEDS_APPROVAL = { needsApproval: true } as const;

/** Tells whether a call waits because its tool needs approval; any restart of the pause lets it run. */
export function waitsForApproval({ metadata }: Interrupt): boolean {
  return metadata?.needsApproval === true;
}

/** Indexes tools by name in a map, in which a name such as `__proto__` finds nothing that was not defined. */
export function indexTools(tools: ToolSet): ReadonlyMap<string, Tool> {
  const isMap = typeof tools === 'object' && tools !== null && !Array.isArray(tools);
  if (!isMap) requireList('tools', tools);
  const byName = new Map<string, Tool>();
  for (const [key, tool] of Object.entries(tools)) {
    const place = isMap ? `tools.${key}` : `tools[${key}]`;
    if (tool?.kind !== 'tool' && tool?.kind !== 'interrupt') {
      const problem = `${place} is no tool; define it with defineTool or defineInterrupt`;
      throw new DefinitionError('invalid-option', problem);
    }
    if (isMap && key !== tool.name) {
      const problem = `${place} is named "${tool.name}"; give it under that name`;
      throw new DefinitionError('invalid-option', problem, tool.name);
    }
    if (byName.has(tool.name)) {
      throw new DefinitionError(
        'repeated-name',
        `Two tools are named "${tool.name}"; names must differ`,
        tool.name,
      );
    }
    byName.set(tool.name, tool);
  }
  return byName;
}
