import { type UserMessage, userMessage } from '../../../agent/messages.ts';
import type { RequestRecord } from '../../../store/port/request-record.ts';
import type { Settlement } from '../../../store/port/values.ts';
import { wordsInVotes } from '../../approvals.ts';
import { readDetails } from '../../request-details.ts';
import type { TurnContext } from '../turn-context.ts';
import { nameIn } from './name-in.ts';
import { quoteContext, votedOn } from './quote.ts';

/**
 * Quotes for the model what people wrote when they approved or rejected the requests that have ended. It is nobody's instruction, and the
 * reason that ended a request is in the result of its call.
 */
export async function quoteVotes(
  { store, directory }: Pick<TurnContext, 'store' | 'directory'>,
  settled: readonly Settlement[],
): Promise<readonly UserMessage[]> {
  const loaded = await Promise.all(settled.map(({ requestId }) => store.load(requestId)));
  const requests = loaded.flatMap((each) => (each.outcome === 'found' ? [each.request] : []));
  const quoted = await Promise.all(requests.map((request) => quotesOf(directory, request)));
  return quoted.flat();
}

function quotesOf(directory: TurnContext['directory'], request: RequestRecord): Promise<UserMessage[]> {
  const title = readDetails(request)?.presented.title ?? 'a request';
  const spoken = wordsInVotes(request).filter(({ reason }) => reason !== undefined);
  return Promise.all(
    spoken.map(async ({ who, decision, at, reason = '' }) => {
      const name = await nameIn(directory.relaxed(), who);
      const lead = votedOn(name, decision, title);
      return userMessage(quoteContext(lead, reason, at / 1_000), { votes: request.id });
    }),
  );
}
