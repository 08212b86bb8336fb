import type { JsonObject } from './json.ts';
import type { Interrupt } from './messages.ts';
import type { RespondReply, RestartReply } from './replies.ts';
import type { CompiledSchema } from './schema/compile-schema.ts';

/** What the caller of `generate` hands to its tools. */
export type ToolContext = Readonly<Record<string, unknown>>;

/** What a tool's function gets beside its input. */
export interface ToolHelpers {
  readonly context: ToolContext;
  /** Pauses the loop at this call; nothing after it runs. */
  readonly interrupt: (metadata?: JsonObject) => never;
  /** What `restart` was given, and `undefined` on the first run. */
  readonly resumed: JsonObject | undefined;
  /** Ends the call as denied; the model sees the status and the reason. */
  readonly deny: (reason: string) => never;
  readonly signal: AbortSignal;
  /** Reports on long work; `fraction` goes from 0 to 1. */
  readonly progress: (message: string, fraction?: number) => void;
  /** The same for every try of one call. */
  readonly idempotencyKey: string;
}

interface ToolParts<Name extends string, Input, Given> {
  readonly name: Name;
  readonly description: string;
  readonly inputSchema: CompiledSchema<Input>;
  readonly outputSchema: CompiledSchema | undefined;
  /** Tells whether an interrupt is one of this tool's, and types its input. */
  matches(interrupt: Interrupt): interrupt is Interrupt<Name, Given>;
}

/** What the loop needs of a tool, whatever its types are. */
export type Tool<Name extends string = string, Input = unknown, Given = unknown> =
  | (ToolParts<Name, Input, Given> & { readonly kind: 'interrupt' })
  | (ToolParts<Name, Input, Given> & {
      readonly kind: 'tool';
      run(input: Input, helpers: ToolHelpers): unknown;
      /** Whether a further run with the same idempotency key has no further effect. */
      readonly idempotent: boolean;
      /** Finds out what became of a call whose worker died in the middle of it. */
      reconcile?(idempotencyKey: string, input: Input): Promise<Reconciled>;
    });

export type Reconciled = 'ran' | 'did-not-run' | 'unknown';

/** The interrupts that a list of tools can give, each with its own name and input. */
export type InterruptOf<T extends Tool> = T extends {
  matches(interrupt: Interrupt): interrupt is infer Own extends Interrupt;
}
  ? Own
  : never;

// An interrupt whose static type says that it belongs to another tool does not compile; one read from JSON does.
type Answerable<Name extends string, Asked extends string> = Interrupt<Asked> &
  (Name extends Asked ? unknown : never);

interface Responds<Name extends string, Output> {
  /** Makes the reply that supplies the output in place of a run. */
  respond<Asked extends string>(interrupt: Answerable<Name, Asked>, output: Output): RespondReply;
}

interface Restarts<Name extends string, Given> {
  /** Makes the reply that runs the tool again, with `resumed` set and, where wanted, another input. */
  restart<Asked extends string>(
    interrupt: Answerable<Name, Asked>,
    metadata?: JsonObject,
    options?: { readonly replaceInput?: Given },
  ): RestartReply;
}

/** A tool that does something; `Given` and `Output` are what its schemas accept, `Input` what they make of it. */
export type ActionTool<Name extends string, Input, Given, Output> = Extract<
  Tool<Name, Input, Given>,
  { kind: 'tool' }
> &
  Responds<Name, Output> &
  Restarts<Name, Given>;

/** A tool that only asks: its output is always somebody's reply. */
export type InterruptTool<Name extends string, Input, Given, Output> = Extract<
  Tool<Name, Input, Given>,
  { kind: 'interrupt' }
> &
  Responds<Name, Output>;
