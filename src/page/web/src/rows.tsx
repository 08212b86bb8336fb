import { showLine, showText } from '../../../bot/views/texts/show-text.ts';
import type { LogRow } from '../../protocol.ts';
import { Moment, Whole } from './parts.tsx';

/** Rows of the log with their hashes; what each says is below it. */
export function Rows({ rows, broken }: { rows: readonly LogRow[]; broken?: number | undefined }) {
  return (
    <ol className="rows">
      {rows.map((row) => (
        <li key={row.seq} id={`row-${row.seq}`} className={row.seq === broken ? 'broken' : undefined}>
          <details>
            <summary>
              <span className="number">{row.seq}</span> <Moment at={row.at} />{' '}
              <strong>{showLine(row.event)}</strong> <span className="untrusted">{showLine(row.detail)}</span>
              <code className="hash">{row.hash.slice(0, 12)}</code>
            </summary>
            <p className="soft">
              {showLine(row.subject)} · hash <code>{row.hash}</code>
            </p>
            {row.body !== '' && <Whole label={`What row ${row.seq} says`} text={showText(row.body)} />}
          </details>
        </li>
      ))}
    </ol>
  );
}
