import type { Button, HomeView, KnownBlock } from '@slack/types';
import type { RequestRecord } from '../../store/port/store.ts';
import { line, mentions, plain, words } from '../cards/card.ts';
import { detailsOf } from '../requests/request-details.ts';
import { limits } from '../slack/limits.ts';
import type { ListName, ListPage } from './load-lists.ts';

export const HOME_PAGE = 'home-page';
export const HOME_OPEN = 'home-open';

const TITLES: Record<ListName, string> = {
  waiting: 'Waiting for me',
  asked: 'Asked by me',
  decided: 'Decided lately',
};
const EMPTY: Record<ListName, string> = {
  waiting: 'Nothing waits for you.',
  asked: 'You have asked for nothing.',
  decided: 'Nothing was decided lately.',
};

/** Builds App Home: a page of each of the three lists. */
export function buildHome(lists: readonly ListPage[]): HomeView {
  return { type: 'home', blocks: lists.flatMap(buildList) };
}

/** Builds one list with its page buttons. A row shows the tool, the requester and the state. */
export function buildList(list: ListPage): KnownBlock[] {
  const rows = list.requests.flatMap(buildRow);
  const empty = [line(words(EMPTY[list.name]))];
  return [
    { type: 'header', text: plain(TITLES[list.name]) },
    ...(rows.length === 0 ? empty : rows),
    ...pager(list),
  ];
}

function buildRow(request: RequestRecord): KnownBlock[] {
  const { name } = detailsOf(request).interrupt.toolRequest;
  return [
    {
      type: 'section',
      text: plain(`${name} — ${request.state}`),
      accessory: {
        type: 'button',
        action_id: HOME_OPEN,
        value: request.id,
        text: plain('Look'),
        accessibility_label: `Look at ${name}`.slice(0, limits.accessibilityLabel),
      },
    },
    line(
      words('Requested by '),
      ...mentions(request.requesters),
      words(`, ${request.approvals} of ${request.policy.quorum} signed`),
    ),
  ];
}

function pager({ name, next, isFirst }: ListPage): KnownBlock[] {
  const buttons: Button[] = [
    ...(isFirst ? [] : [button(`${HOME_PAGE}:${name}:first`, 'Back to the newest', '')]),
    ...(next === undefined ? [] : [button(`${HOME_PAGE}:${name}:next`, 'Older', next)]),
  ];
  return buttons.length === 0 ? [] : [{ type: 'actions', elements: buttons }];
}

function button(action_id: string, text: string, from: string): Button {
  return { type: 'button', action_id, text: plain(text), ...(from !== '' && { value: from }) };
}
