import { useNames } from '../client/store.ts';
import { describeRow } from '../record-panel/describe-row.ts';
import { formatClock } from '../record-panel/format-time.ts';
import { useRecord } from '../record-panel/use-record.ts';

/** Shows the newest rows of the audit log of a thread, newest first. */
export function AuditTail({ threadId, rows }: { readonly threadId: string; readonly rows: number }) {
  const { record } = useRecord(threadId);
  const name = useNames();
  const shown = (record?.audit ?? []).slice(-rows).toReversed();
  if (shown.length === 0) return null;
  return (
    <div className="tour-audit">
      <h4>On record</h4>
      <ol aria-live="polite">
        {shown.map((row) => (
          <li key={row.seq} className="tour-audit-row">
            <code>#{row.seq}</code> {describeRow(row, name)} {formatClock(row.at)}
          </li>
        ))}
      </ol>
    </div>
  );
}
