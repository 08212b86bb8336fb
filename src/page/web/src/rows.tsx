import { useEffect, useRef } from 'react';
import { showLine, showText } from '../../../bot/views/texts/show-text.ts';
import type { LogRow, Names } from '../../protocol.ts';
import { Moment, Named, PageLink, Whole } from './parts.tsx';

interface RowsOptions {
  readonly rows: readonly LogRow[];
  readonly names: Names;
  readonly broken?: number | undefined;
  /** The row that a link led to. */
  readonly chosen?: number | undefined;
  /** Whether the person may open the log, where each row has an address. */
  readonly hasLinks: boolean;
}

/** Rows of the log with their hashes; what each says, exactly, is below it. */
export function Rows({ rows, names, broken, chosen, hasLinks }: RowsOptions) {
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
              <span className="number">{row.seq}</span> <Moment at={row.at} />{' '}
              <strong>{showLine(row.event)}</strong>{' '}
              <span className="untrusted">
                <Named text={showLine(row.detail)} names={names} />
              </span>{' '}
              <code className="hash">{row.hash.slice(0, 12)}</code>
            </summary>
            <RowDetails row={row} hasLinks={hasLinks} />
          </details>
        </li>
      ))}
    </ol>
  );
}

/** The row as it was hashed, with ids in place of names. */
function RowDetails({ row, hasLinks }: { row: LogRow; hasLinks: boolean }) {
  const isRequest = row.subject.includes('~');
  return (
    <>
      <dl className="facts soft">
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
            <dd>{showLine(row.detail)}</dd>
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
    </>
  );
}
