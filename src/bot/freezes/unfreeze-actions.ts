import type { Freeze, UnfreezeResult } from '../../store/port/freezes.ts';
import { UNFREEZE } from '../cards/action-ids.ts';
import type { BotContext } from '../context.ts';
import { mayDecide } from '../decisions/authorize.ts';
import { freezeTexts, scopeInWords } from '../texts/freezes.ts';
import type { Freezer } from './freeze-actions.ts';

export type FreezeContext = Pick<BotContext, 'store' | 'directory' | 'agent' | 'logger'>;

/** Counts a person's wish to end a freeze, and ends it if enough approvers want it; then what it held goes on. */
export async function unfreezeActions(
  { store, directory, agent }: FreezeContext,
  scope: string,
  { who, id, reason, evidence }: Freezer,
  shown?: string,
): Promise<UnfreezeResult> {
  const { approvers, quorum } = agent().unfreeze;
  const fresh = directory.fresh();
  const { freezes } = await store.readFreezes();
  const earlier = freezes.find((freeze) => freeze.scope === scope)?.votes ?? [];
  const [own, ...others] = await Promise.all(
    [who, ...earlier].map(async (person) => ({ person, ...(await mayDecide(fresh, person, approvers)) })),
  );
  const result = await store.unfreeze({
    ...{ scope, shown, id, who, quorum, reason },
    eligible: own?.eligible === true,
    stillEligible: others.filter(({ eligible }) => eligible).map(({ person }) => person),
    evidence: { ...evidence, ...own?.evidence },
  });
  if (result.outcome === 'unfrozen') await store.spreadFreezes();
  return result;
}

/** Asks the approvers who have not voted yet, each once for a freeze. */
export async function askToUnfreeze(
  { store, directory, agent }: FreezeContext,
  scope: string,
): Promise<Freeze | undefined> {
  const { freezes } = await store.readFreezes();
  const freeze = freezes.find((each) => each.scope === scope);
  if (freeze === undefined) return undefined;
  const { approvers, quorum } = agent().unfreeze;
  const people = await directory.peopleOf(approvers);
  const { card } = freezeTexts;
  for (const user of people.filter((person) => !freeze.votes.includes(person)))
    await store.enqueueOutbox(`freeze:${scope}`, {
      id: `unfreeze/${freeze.id}/${user}`,
      body: {
        kind: 'titled',
        user,
        text: card.text,
        title: scopeInWords(scope),
        tail: card.tail(freeze, quorum),
        people: [freeze.who],
        button: { actionId: UNFREEZE, text: card.button, value: `${freeze.id} ${scope}` },
      },
    });
  return freeze;
}
