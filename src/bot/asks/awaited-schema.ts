import { z } from 'zod';
import type { Interrupt } from '../../agent/messages.ts';
import { compileSchema } from '../../agent/schema/compile-schema.ts';
import type { CompiledSchema } from '../../agent/schema/json-schema.ts';
import { requestForm, waitForCallback } from '../../tools/built-ins.ts';
import { elicitationOf } from '../../tools/mcp/server-pause.ts';
import type { ToolEntry } from '../../tools/toolbox/toolbox.ts';

const OwnCallback = z.object({ result: z.record(z.string(), z.unknown()).optional() });

/** Returns the schema of the answer to a form or a callback: the one that the call asks for, or else the tool's output schema. */
export function awaitedSchema(
  interrupt: Interrupt,
  entry: ToolEntry | undefined,
): CompiledSchema | undefined {
  const { name, input } = interrupt.toolRequest;
  const asked = askedSchema(interrupt, input);
  if (asked === undefined) return entry?.tool.outputSchema;
  try {
    return compileSchema(asked, name, 'result');
  } catch {
    return undefined;
  }
}

/** Describes the fault in the schema that a call asks for, so that nobody fills in what cannot be checked. */
export function problemWithAsked(interrupt: Interrupt): string | undefined {
  const { name, input } = interrupt.toolRequest;
  const asked = askedSchema(interrupt, input);
  try {
    if (asked !== undefined) compileSchema(asked, name, 'JSON Schema');
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function askedSchema(interrupt: Interrupt, input: unknown): Record<string, unknown> | undefined {
  const question = elicitationOf(interrupt)?.question;
  if (question !== undefined) return question.mode === 'form' ? question.schema : {};
  if (requestForm.matches(interrupt)) {
    const form = requestForm.inputSchema.parse(input);
    return form.ok ? form.value.fields : undefined;
  }
  if (waitForCallback.matches(interrupt)) {
    const wait = waitForCallback.inputSchema.parse(input);
    return wait.ok ? wait.value.result : undefined;
  }
  return OwnCallback.safeParse(interrupt.metadata?.callback).data?.result;
}

/** Returns the purpose of a form or a callback, for people. */
export function purposeOf(interrupt: Interrupt): string | undefined {
  const Purpose = z.object({ title: z.string().optional(), awaited: z.string().optional() });
  const asked = Purpose.safeParse(interrupt.metadata?.callback ?? interrupt.toolRequest.input).data;
  return asked?.title ?? asked?.awaited;
}
