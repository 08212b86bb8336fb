import { isJsonObject, type JsonObject, type JsonValue, toJson } from '../../agent/json.ts';
import type { Tool, UndoCall } from '../../agent/tool.ts';
import { fillInput, hasAllValues } from './fill-input.ts';

/** The reverse of a tool in the manifest: another tool, with its input as templates over the input and the output of the call. */
export interface UndoDeclaration {
  readonly tool: string;
  readonly input: JsonObject;
  readonly withinMs?: number | undefined;
}

/** The way to take back a call that succeeded. */
export interface UndoSource {
  /** The time after the run in which it is offered. */
  readonly withinMs: number;
  /** Computes the reverse call from what ran; `undefined` if this call cannot be taken back. */
  plan(input: JsonValue, output: JsonValue): UndoCall | undefined;
}

const WITHIN_MS = 3_600_000;

type Action = Extract<Tool, { kind: 'tool' }>;

/** Builds the reverse of a tool from the manifest, which goes first, or from the module; `undefined` if it has none. */
export function createUndo(
  tool: Pick<Action, 'inputSchema' | 'undo'>,
  declared: UndoDeclaration | undefined,
): UndoSource | undefined {
  if (declared !== undefined) return declaredUndo(declared);
  if (tool.undo === undefined) return undefined;
  return {
    withinMs: WITHIN_MS,
    plan(input, output) {
      const parsed = tool.inputSchema.parse(input);
      const call = parsed.ok ? tool.undo?.(parsed.value, output) : undefined;
      if (call === undefined) return undefined;
      const given = toJson(call.input);
      return typeof call.tool === 'string' && isJsonObject(given)
        ? { tool: call.tool, input: given }
        : undefined;
    },
  };
}

function declaredUndo({ tool, input, withinMs = WITHIN_MS }: UndoDeclaration): UndoSource {
  return {
    withinMs,
    plan(ran, output) {
      const values = { input: ran, output };
      // A reverse call with a gap in it could touch something else.
      if (!hasAllValues(input, values)) return undefined;
      const filled = fillInput(input, values);
      return isJsonObject(filled) ? { tool, input: filled } : undefined;
    },
  };
}
