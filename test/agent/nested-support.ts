import { defineTool, type Interrupt, interruptsInside, type ToolHelpers } from '../../src/index.ts';
import { call, calls, waiting } from './support.ts';

/** A tool whose work is done by a model of its own. */
export function delegating(run: (helpers: ToolHelpers) => Promise<unknown>) {
  return defineTool({ name: 'delegate', description: 'Lets another model do it.' }, (_input, helpers) =>
    run(helpers),
  );
}

export const ask = (ref: string) => calls(call(ref, 'ask', { question: `${ref}?` }));
export const transfer = (ref: string, amount: number) => call(ref, 'transfer', { amount });

/** Finds the interrupt of a call inside another one. */
export function inner(interrupt: Interrupt, ref: string): Interrupt {
  return waiting({ interrupts: interruptsInside(interrupt) }, ref);
}
