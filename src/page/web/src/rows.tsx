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
              <span className="number">{row.seq}</span> <Moment at={row.at} /> <strong>{row.event}</strong>{' '}
              <span className="untrusted">{row.detail}</span>
              <code className="hash">{row.hash.slice(0, 12)}</code>
            </summary>
            <p className="soft">
              {row.subject} · hash <code>{row.hash}</code>
            </p>
            {row.body !== '' && <Whole label={`What row ${row.seq} says`} text={visible(row.body)} />}
          </details>
        </li>
      ))}
    </ol>
  );
}

const HIDDEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\u{115f}\u{1160}\u{3164}\u{ffa0}\u{2800}]/gu;

/** Writes out what would be invisible, or would turn the direction of the text. */
function visible(text: string): string {
  return text.replace(HIDDEN, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}
