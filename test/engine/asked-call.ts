import type { JsonValue } from '../../src/agent/json.ts';
import { readAskedCall } from '../../src/engine/asked-call.ts';
import type { AskedCall, FacetPorts, RequestOrigin } from '../../src/engine/facets/facet.ts';

/** A call that waits, of a tool that is gone. */
export function askedCall(input: JsonValue, origin: Partial<RequestOrigin> = {}): AskedCall {
  const toolRequest = { name: 'refund_order', ref: 'call-1', input };
  const from = {
    threadId: 'C1:1.2',
    requesters: ['U0ASKER'],
    contextAuthors: [],
    why: '',
    files: [],
    ...origin,
  };
  return readAskedCall(from, {
    call: { toolRequest, idempotencyKey: 'key-1' },
    interrupt: { id: 'pause-1', toolRequest },
    entry: undefined,
  });
}

/** A workspace in which nobody has a passkey or a status. */
export const ports: FacetPorts = {
  store: { readDocument: async () => undefined },
  statusesOf: async () => undefined,
  words: {
    none: 'none',
    anyOf: (label) => `any ${label}`,
    anyOther: 'anything else',
    whyAsked: () => 'a rule',
  },
};
