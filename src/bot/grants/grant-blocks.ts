import type { KnownBlock } from '@slack/types';
import type { GrantRecord } from '../../store/port/grants.ts';
import { REVOKE } from '../cards/action-ids.ts';
import { line, mentions, moment, plain, words } from '../cards/card.ts';
import { showLabel } from '../cards/values/show-text.ts';
import { limits } from '../slack/limits.ts';
import { grantTexts } from '../texts/grants.ts';
import { grantDetailsOf } from './grant-details.ts';

/** Builds the list of grants with a button to revoke each, in so many blocks at most. */
export function buildGrants(grants: readonly GrantRecord[], room: number): KnownBlock[] {
  const shown = grants.slice(0, Math.max(0, Math.floor((room - 2) / 2)));
  if (shown.length === 0) return [];
  const left = grants.length - shown.length;
  return [
    { type: 'header', text: plain(grantTexts.listTitle) },
    ...shown.flatMap(buildRow),
    ...(left === 0 ? [] : [line(words(grantTexts.others(left)))]),
  ];
}

function buildRow(grant: GrantRecord): KnownBlock[] {
  const { title = grant.id, by = [], requesters = [] } = grantDetailsOf(grant) ?? {};
  return [
    {
      type: 'section',
      block_id: grant.id,
      text: plain(showLabel(title, limits.description)),
      accessory: { type: 'button', action_id: REVOKE, text: plain(grantTexts.revoke), value: grant.id },
    },
    line(
      words(grantTexts.row(grant.used, grant.uses)),
      ...mentions(by),
      words(grantTexts.rowFor),
      ...mentions(requesters),
      words(grantTexts.rowUntil),
      moment(grant.expiresAt),
    ),
  ];
}
