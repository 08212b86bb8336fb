import type { PersonEntity } from '../../../protocol.ts';
import { CAST } from '../../../slack/default-cast.ts';

/** Chooses who begins with a manifest of one's own: somebody who asks, because an approver of their own request meets a refusal. */
export function chooseAsker(people: readonly Pick<PersonEntity, 'id' | 'title'>[]): string | undefined {
  const askers = people.filter(({ title }) => title !== 'Approver');
  return (askers.find(({ id }) => id === CAST.requester) ?? askers[0])?.id;
}
