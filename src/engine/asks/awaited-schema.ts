import type { Interrupt } from '../../agent/messages.ts';
import { compileSchema } from '../../agent/schema/compile-schema.ts';
import type { CompiledSchema } from '../../agent/schema/json-schema.ts';
import { elicitationOf } from '../../tools/mcp/server-pause.ts';
import { askOf } from '../../tools/pause.ts';

/** Returns the schema of the answer to a form or a callback; `undefined` if it asks for none. */
export function awaitedSchema(interrupt: Interrupt): CompiledSchema | undefined {
  const asked = askedSchema(interrupt);
  try {
    return asked && compileSchema(asked, interrupt.toolRequest.name, 'result');
  } catch {
    return undefined;
  }
}

function askedSchema(interrupt: Interrupt): Record<string, unknown> | undefined {
  const question = elicitationOf(interrupt)?.question;
  if (question !== undefined) return question.mode === 'form' ? question.schema : {};
  const way = askOf(interrupt)?.way;
  return way?.kind === 'form' || way?.kind === 'callback' ? way.schema : undefined;
}
