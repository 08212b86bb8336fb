import type { KnownBlock } from '@slack/types';
import type { RequestRecord } from '../../store/port/store.ts';
import { type Card, heading, line, mentions, moment, words } from '../cards/card.ts';
import { titleOf } from '../cards/card-details.ts';
import { escapeMarkup, showLabel, showLine } from '../cards/values/show-text.ts';
import { titleWithView } from '../home/build-home.ts';
import { limits } from '../slack/limits.ts';
import { cardTexts } from '../texts/cards.ts';
import { digestTexts } from '../texts/digests.ts';

/** A request on a digest, with the link to its card in the thread. */
export interface DigestRow {
  readonly request: RequestRecord;
  readonly link: string | undefined;
  /** The approver for whom the person is asked. */
  readonly askedFor: string | undefined;
}

/** Builds the digest of a person: what waits, the oldest first, each with a way to decide it. */
export function buildDigest(rows: readonly DigestRow[]): Card {
  if (rows.length === 0)
    return {
      text: `${digestTexts.done}. ${digestTexts.doneText}`,
      blocks: [heading(digestTexts.done), line(words(digestTexts.doneText))],
    };
  const shown = rows.slice(0, limits.digestRows);
  const rest = rows.length - shown.length;
  const title = digestTexts.title(rows.length);
  const named = shown.map(({ request }) => titleOf(request)).join('; ');
  return {
    text: escapeMarkup(showLabel(`${title}: ${named}`, limits.fallbackText)),
    blocks: [
      heading(title),
      line(words(digestTexts.why)),
      ...shown.flatMap(buildRow),
      ...(rest === 0 ? [] : [line(words(digestTexts.more(rest)))]),
    ],
  };
}

/** Builds the line that an earlier message keeps when a newer one takes its place. */
export function buildMoved(): Card {
  return { text: digestTexts.moved, blocks: [line(words(digestTexts.moved))] };
}

function buildRow({ request, link, askedFor }: DigestRow): KnownBlock[] {
  return [
    { type: 'divider' },
    titleWithView(request, titleOf(request)),
    line(
      ...(request.state === 'unknown' ? [words(digestTexts.unknown, { bold: true })] : []),
      words(cardTexts.requestedBy),
      ...mentions(request.requesters),
      ...(askedFor === undefined ? [] : [words(` · ${digestTexts.askedFor}`), ...mentions([askedFor])]),
      ...(request.state === 'unknown' ? [] : [words(` · ${cardTexts.expires}`), moment(request.expiresAt)]),
      ...(link === undefined || !/^https?:\/\//.test(link)
        ? []
        : [words(' · '), { type: 'link' as const, url: showLine(link), text: cardTexts.openThread }]),
    ),
  ];
}
