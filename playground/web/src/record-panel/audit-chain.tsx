import type { RecordedRow, ThreadRecord } from '../../../record-protocol.ts';
import { useNames } from '../client/store.ts';
import { describeDetail, describeRow, type Gap, gapBefore } from './describe-row.ts';
import { formatClock } from './format-time.ts';
import './audit-chain.css';

const SHOWN_OF_HASH = 7;

/** Shows the audit rows of a thread as a chain, newest last, and whether the chain is valid. */
export function AuditChain({ record }: { readonly record: ThreadRecord }) {
  const { audit, chain, requests } = record;
  const toolOf = new Map(requests.map(({ id, tool }) => [id, tool]));
  return (
    <>
      <ChainStatus chain={chain} />
      <ol className="record-chain">
        {audit.map((row, index) => (
          <ChainRow
            key={row.seq}
            row={row}
            gap={gapBefore(row, audit[index - 1])}
            about={toolOf.get(row.subject) ?? ''}
          />
        ))}
      </ol>
    </>
  );
}

function ChainStatus({ chain: { rows, problems } }: { readonly chain: ThreadRecord['chain'] }) {
  if (problems.length === 0)
    return (
      <p className="record-verdict record-verdict-good">
        Chain verified: {rows} {rows === 1 ? 'row' : 'rows'}, including threads that share the chain
      </p>
    );
  return (
    <ul className="record-verdict record-verdict-bad" aria-label="The chain is broken">
      {problems.map((problem) => (
        <li key={problem}>{problem}</li>
      ))}
    </ul>
  );
}

interface ChainRowProps {
  readonly row: RecordedRow;
  readonly gap: Gap | undefined;
  readonly about: string;
}

function ChainRow({ row, gap, about }: ChainRowProps) {
  const name = useNames();
  const detail = describeDetail(row, name);
  return (
    <li className="record-row">
      {gap !== undefined && (
        <p className="record-gap" data-gap={gap.kind}>
          {gap.text}
        </p>
      )}
      <div className="record-row-body">
        <p className="record-row-head">
          <span className="record-seq">#{row.seq}</span>
          <strong>{describeRow(row, name)}</strong>
          <span className="record-soft">{formatClock(row.at)}</span>
        </p>
        <p className="record-row-detail">
          {about !== '' && <code>{about}</code>} <code>{row.event}</code> {detail}
        </p>
        <p className="record-hashes">
          <code title={row.previousHash}>
            {row.previousHash === '' ? 'start' : row.previousHash.slice(0, SHOWN_OF_HASH)}
          </code>
          <span aria-hidden="true">→</span>
          <span className="record-hidden"> is in the hash of this row: </span>
          <code className="record-hash" title={row.hash}>
            {row.hash.slice(0, SHOWN_OF_HASH)}
          </code>
        </p>
      </div>
    </li>
  );
}
