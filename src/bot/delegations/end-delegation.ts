import type { BotContext } from '../context.ts';
import { delegationTexts } from '../texts/delegations.ts';
import { delegationsNow } from './stand-ins.ts';

type Context = Pick<BotContext, 'store' | 'agent'>;

/**
 * Ends the delegation of a person, for one of its two people or an admin, and tells the other. Once this resolves nothing is signed under
 * it in any process.
 */
export async function endDelegation(
  { store, agent }: Context,
  from: string,
  { who, id }: { readonly who: string; readonly id: string },
  shown?: string,
): Promise<string> {
  const current = (await delegationsNow(store)).find((each) => each.from === from);
  const isAdmin = agent().admins.includes(who);
  const { outcome } = await store.endDelegation({
    ...{ from, shown, id, who, isAdmin, evidence: { click: id } },
  });
  // Also for one that had ended before: the process that ended it may have died before it had spread it.
  await store.spreadDelegations();
  if (outcome === 'not-eligible') return delegationTexts.notYours;
  if (outcome === 'none')
    return who === from && shown === undefined ? delegationTexts.none : delegationTexts.gone;
  const { told } = delegationTexts;
  const others = [from, ...(current === undefined ? [] : [current.to])].filter((person) => person !== who);
  for (const user of others)
    await store.enqueueOutbox('delegations', {
      id: `delegation-ended/${id}/${user}`,
      body: {
        ...{ kind: 'titled', user, text: '', title: told.title },
        ...(user === from ? { tail: told.from, people: [who] } : { tail: told.to, people: [from] }),
      },
    });
  if (who === from) return delegationTexts.ended;
  return who === current?.to ? delegationTexts.endedTo : delegationTexts.endedOther;
}

/** Ends a delegation by its button; the value names who gave it, and its id. */
export function endByClick(
  context: Context,
  value: string,
  click: { readonly who: string; readonly id: string },
): Promise<string> {
  const [from = '', shown = ''] = value.split(' ');
  return endDelegation(context, from, click, shown);
}
