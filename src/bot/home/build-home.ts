import type { Button, HomeView, KnownBlock } from '@slack/types';
import type { RequestRecord } from '../../store/port.ts';
import { line, mention, plain, words } from '../cards/card.ts';
import { detailsOf } from '../request-details.ts';
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

/** App Home: what waits for me, what I asked for, what was decided lately, a page of each. */
export function buildHome(lists: readonly ListPage[]): HomeView {
  return { type: 'home', blocks: lists.flatMap(buildList) };
}

/** One list as blocks, with the buttons to turn its pages; a row says what, who asked and how it stands. */
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
        accessibility_label: `Look at ${name}`.slice(0, 75),
      },
    },
    line(
      words('Asked by '),
      mention(request.requester),
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
