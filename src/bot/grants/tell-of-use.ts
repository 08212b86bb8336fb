import type { JsonObject } from '../../agent/json.ts';
import type { Store } from '../../store/port/store.ts';
import { readableName } from '../../tools/presentation/readable-name.ts';
import { parseThreadId } from '../slack/thread.ts';
import { grantTexts } from '../texts/grants.ts';
import { GrantEvidence } from './use-grant.ts';

/** Tells the thread that a call runs under a grant, once for each call. */
export async function tellOfUse(
  store: Pick<Store, 'enqueueOutbox'>,
  threadId: string,
  tool: string,
  evidence: JsonObject | undefined,
): Promise<void> {
  const use = GrantEvidence.safeParse(evidence).data;
  if (use === undefined) return;
  const { grant, by, used, uses, call } = use;
  const { channel, threadTs } = parseThreadId(threadId);
  const title = grantTexts.used(readableName(tool));
  const tail = grantTexts.usedTail(used, uses);
  await store.enqueueOutbox(threadId, {
    id: `${grant}/${call}`,
    body: { kind: 'titled', channel, threadTs, text: '', title, tail, people: by },
  });
}

/** Returns the use of a grant for a call that did not start. */
export async function returnUse(
  store: Pick<Store, 'returnUse'>,
  evidence: JsonObject | undefined,
): Promise<void> {
  const use = GrantEvidence.safeParse(evidence).data;
  if (use !== undefined) await store.returnUse(use.grant, use.call, { call: use.call });
}
