import type { ReactNode } from 'react';
import type { RecordedRequest, RecordedRow } from '../../../record-protocol.ts';
import { CardPlaces } from './card-places.tsx';
import { JsonValue } from './json-value.tsx';
import { pathOf } from './path-of.ts';
import { ShortText } from './short-text.tsx';
import { spellMoment, spellTimer } from './spell-time.ts';
import { StatePath } from './state-path.tsx';
import { approvalsOf } from './thread-words.ts';
import { useNames } from './use-names.ts';

interface RequestCardProps {
  readonly request: RecordedRequest;
  readonly rows: readonly RecordedRow[];
  readonly now: number;
}

const PAYLOAD_WORDS: Readonly<Record<string, string>> = {
  succeeded: 'Outcome',
  failed: 'Outcome',
  resolved: 'Verdict',
  answered: 'Answer',
};

/** One request as the record holds it, settled or not. */
export function RequestCard({ request, rows, now }: RequestCardProps) {
  const name = useNames();
  const { id, kind, tool, requester, principals, timers, attempts, settledAt, by, payload, progress } =
    request;
  return (
    <article className="record-card" aria-label={`${kind}: ${tool}`}>
      <h4 className="record-card-title">
        <code>{tool}</code> <span className="record-soft">{kind}</span>
      </h4>
      <StatePath steps={pathOf(request, rows)} />
      <JsonValue value={request.input} label={`Arguments of ${tool}`} />
      <dl className="record-facts">
        <Fact term="Asked by">
          {name(requester)} at {spellMoment(request.createdAt)}
        </Fact>
        {principals.length > 0 && (
          <Fact term={kind === 'approval' ? 'May sign' : 'May answer'}>
            {principals.map(name).join(', ')}
          </Fact>
        )}
        {kind === 'approval' && (
          <Fact term="Signatures">
            {approvalsOf(request.votes)} of {request.quorum}
            <Votes votes={request.votes} name={name} />
          </Fact>
        )}
        {timers.length > 0 && (
          <Fact term="Timers">
            <ul className="record-list">
              {timers.map((timer) => (
                <li key={timer.kind}>{spellTimer(timer, now)}</li>
              ))}
            </ul>
          </Fact>
        )}
        {by !== undefined && <Fact term="Decided by">{name(by)}</Fact>}
        {settledAt !== undefined && <Fact term="Settled at">{spellMoment(settledAt)}</Fact>}
        {payload !== undefined && payload !== '' && (
          <Fact term={PAYLOAD_WORDS[request.state] ?? 'Reason'}>
            <span className="record-payload">{payload}</span>
          </Fact>
        )}
        {kind === 'approval' && (
          <Fact term="Attempts">
            {attempts}
            {request.isIdempotent
              ? '; idempotent: tried again with the same key'
              : '; not idempotent: never run twice by itself'}
          </Fact>
        )}
        {progress !== undefined && progress !== '' && <Fact term="Progress">{progress}</Fact>}
        <Fact term="Digest">
          <ShortText text={request.digest} what="digest" />
        </Fact>
        {request.views.length > 0 && (
          <Fact term="Cards">
            <CardPlaces request={request} />
          </Fact>
        )}
        <Fact term="Id">
          <ShortText text={id} what="id" />
        </Fact>
      </dl>
    </article>
  );
}

function Fact({ term, children }: { readonly term: string; readonly children: ReactNode }) {
  return (
    <div className="record-fact">
      <dt>{term}</dt>
      <dd>{children}</dd>
    </div>
  );
}

interface VotesProps {
  readonly votes: RecordedRequest['votes'];
  readonly name: (id: string) => string;
}

function Votes({ votes, name }: VotesProps) {
  if (votes.length === 0) return null;
  return (
    <ul className="record-list">
      {votes.map(({ who, decision, at }) => (
        <li key={who}>
          {name(who)} {decision === 'approve' ? 'approved' : 'rejected'} at {spellMoment(at)}
        </li>
      ))}
    </ul>
  );
}
