import { useEffect, useRef } from 'react';
import { showLine, showText } from '../../../bot/views/texts/show-text.ts';
import type { LogRow, Names } from '../../protocol.ts';
import { rowWords } from '../../row-words.ts';
import { Avatar, Named, PageLink, People, Whole } from './parts.tsx';
import { Clock } from './times.tsx';

interface RowsOptions {
  readonly rows: readonly LogRow[];
  readonly names: Names;
  /** The titles of requests, by id; missing where all rows are of one request. */
  readonly titles?: ReadonlyMap<string, string>;
  readonly broken?: number | undefined;
  /** The row that a link led to. */
  readonly chosen?: number | undefined;
  /** Whether the person may open the log, where each row has an address. */
  readonly hasLinks: boolean;
}

/** Rows of the log in words; what each says, exactly, is below it. */
export function Rows({ rows, names, titles, broken, chosen, hasLinks }: RowsOptions) {
  const target = useRef<HTMLLIElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is shown once it is there.
  useEffect(() => target.current?.scrollIntoView({ block: 'center' }), [chosen]);
  return (
    <ol className="rows">
      {rows.map((row) => (
        <li
          key={row.seq}
          ref={row.seq === chosen ? target : undefined}
          className={row.seq === broken ? 'broken' : row.seq === chosen ? 'chosen' : undefined}
        >
          <details open={row.seq === chosen}>
            <summary>
              <Told row={row} names={names} title={titles?.get(row.subject)} />
              <Clock at={row.at} />
            </summary>
            <RowDetails row={row} hasLinks={hasLinks} />
          </details>
        </li>
      ))}
    </ol>
  );
}

/** What a row says: what it is about, who did it, and what. */
function Told({ row, names, title }: { row: LogRow; names: Names; title: string | undefined }) {
  const { who, words } = rowWords(row);
  return (
    <span className="told">
      {who === undefined ? (
        <span className="avatar no-one" aria-hidden="true" />
      ) : (
        <Avatar id={who} names={names} />
      )}
      <span>
        {title !== undefined && (
          <>
            <strong className="untrusted">{showLine(title)}</strong>
            {' · '}
          </>
        )}
        {who !== undefined && <People ids={[who]} names={names} />}{' '}
        <span className="words">
          <Named text={showLine(words)} names={names} />
        </span>
      </span>
    </span>
  );
}

/** The row as it was hashed, with ids in place of names. */
function RowDetails({ row, hasLinks }: { row: LogRow; hasLinks: boolean }) {
  const isRequest = row.subject.includes('~');
  return (
    <div className="row-details">
      <dl className="facts soft">
        <div>
          <dt>Row</dt>
          <dd>
            {row.seq}, <code>{showLine(row.event)}</code>
          </dd>
        </div>
        <div>
          <dt>About</dt>
          <dd>
            {isRequest ? (
              <PageLink to={`requests/${encodeURIComponent(row.subject)}`}>{showLine(row.subject)}</PageLink>
            ) : (
              showLine(row.subject)
            )}
          </dd>
        </div>
        {row.detail !== '' && (
          <div>
            <dt>Detail</dt>
            <dd className="detail">{showLine(row.detail)}</dd>
          </div>
        )}
        <div>
          <dt>Hash</dt>
          <dd>
            <code>{row.hash}</code>
          </dd>
        </div>
      </dl>
      {row.body !== '' && <Whole label={`What row ${row.seq} says`} text={showText(row.body)} />}
      {hasLinks && (
        <p className="soft">
          <PageLink to={`log?row=${row.seq}`}>Link to row {row.seq}</PageLink>
        </p>
      )}
    </div>
  );
}
