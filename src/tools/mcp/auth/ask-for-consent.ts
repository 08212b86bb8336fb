import { z } from 'zod';
import type { Interrupt } from '../../../agent/messages.ts';
import type { Tool, ToolHelpers } from '../../../agent/tool.ts';
import { orAbort } from '../../../agent/util/abort.ts';

type Action = Extract<Tool, { kind: 'tool' }>;

const Consent = z.object({
  /** The name of the server's entry. */
  server: z.string(),
  host: z.string(),
  person: z.string(),
});
/** The account that a call waits for: whose, and at which server. */
export type Consent = Readonly<z.infer<typeof Consent>>;

/** Returns the consent that an interrupt waits for, if it waits for one. */
export function consentOf(interrupt: Interrupt): Consent | undefined {
  return Consent.safeParse(interrupt.metadata?.consent).data;
}

const Asked = z.object({
  requester: z.string().min(1),
  requesters: z.array(z.string()).catch([]),
});
/** The reply to a pause; `by` is the person who edited the call. */
const Decided = z.object({ decision: z.string(), by: z.string().nullish() });

/** Returns the person in whose name a call runs: its only requester, or the first one of a call that has started. */
export function callerOf(context: ToolHelpers['context']): string | undefined {
  return Asked.safeParse(context).data?.requester;
}

/** Tells whether somebody else than the owner of the account asked for a call, or edited it. */
function isAskedByOthers(
  context: ToolHelpers['context'],
  decided: z.infer<typeof Decided> | undefined,
): boolean {
  const { requester, requesters = [] } = Asked.safeParse(context).data ?? {};
  const editor = decided?.decision === 'approved' ? undefined : decided?.by;
  return [...requesters, editor ?? requester].some((person) => person !== requester);
}

const ASKED_BY_OTHERS =
  "This runs with one person's account, and several people have asked for it here. Ask again in a thread of your own.";

/** The accounts of people at a server, before a call. */
export interface Accounts {
  /** Returns the consent that a person has to give first; `undefined` if their account is connected. */
  missing(person: string): Promise<Consent | undefined>;
  /** Renews the token of a person if it is due, so that the call itself has only to be sent. */
  renew(person: string): Promise<unknown>;
}

/**
 * Denies a call that others than the owner of the account asked for or edited: it runs only for words of that person. Pauses a call
 * whose requester has not connected an account, before its gate. A call that people have decided on is not paused again: if
 * the connection is gone by then, it fails before anything is sent. A token is renewed before the start is on record: a process that
 * dies meanwhile leaves no doubt whether the call ran.
 */
export function askForConsent(tool: Action, { missing, renew }: Accounts): Action {
  const check = async (helpers: ToolHelpers): Promise<void> => {
    const decided = Decided.safeParse(helpers.resumed).data;
    // A call that is answered has started in the name of its owner, whoever has spoken since.
    if (decided?.decision !== 'answered' && isAskedByOthers(helpers.context, decided))
      return helpers.deny(ASKED_BY_OTHERS);
    if (decided !== undefined) return;
    const person = callerOf(helpers.context);
    if (person === undefined)
      return helpers.deny('Nobody asked for this call, and it runs only in the name of a person');
    const consent = await missing(person);
    if (consent !== undefined) helpers.interrupt({ consent: { ...consent } });
  };
  const { admit } = tool;
  return {
    ...tool,
    ...(admit !== undefined && {
      admit: async (input: unknown, helpers: ToolHelpers) => {
        await check(helpers);
        const person = callerOf(helpers.context);
        // The run itself says why there is no token.
        if (person !== undefined) await orAbort(renew(person), helpers.signal).catch(() => {});
        return admit(input, helpers);
      },
    }),
    run: async (input, helpers) => {
      await check(helpers);
      return tool.run(input, helpers);
    },
  };
}
