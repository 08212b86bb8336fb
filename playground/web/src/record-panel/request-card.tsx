import { type ReactNode, useState } from 'react';
import type { RecordedRequest, RecordedRow } from '../../../record-protocol.ts';
import { useNames } from '../client/store.ts';
import { CardLocations } from './card-locations.tsx';
import { approvalsOf } from './describe-thread.ts';
import { formatClock, formatTimer } from './format-time.ts';
import { JsonValue } from './json-value.tsx';
import { type PathStep, statePath } from './state-path.ts';
import './request-card.css';

interface RequestCardProps {
  readonly request: RecordedRequest;
  readonly rows: readonly RecordedRow[];
  readonly now: number;
}

const PAYLOAD_LABELS: Readonly<Record<string, string>> = {
  succeeded: 'Outcome',
  failed: 'Outcome',
  resolved: 'Verdict',
  answered: 'Answer',
};

/** One request as stored in the record. */
export function RequestCard({ request, rows, now }: RequestCardProps) {
  const name = useNames();
  const { id, kind, tool, requester, principals, timers, attempts, settledAt, by, payload, progress } =
    request;
  return (
    <article className="record-card" aria-label={`${kind}: ${tool}`}>
      <h4 className="record-card-title">
        <code>{tool}</code> <span className="record-soft">{kind}</span>
      </h4>
      <StatePath steps={statePath(request, rows)} />
      <JsonValue value={request.input} label={`Arguments of ${tool}`} />
      <dl className="record-facts">
        <Fact term="Requested by">
          {name(requester)} at {formatClock(request.createdAt)}
        </Fact>
        {principals.length > 0 && (
          <Fact term={kind === 'approval' ? 'Approvers' : 'Can answer'}>
            {principals.map(name).join(', ')}
          </Fact>
        )}
        {kind === 'approval' && (
          <Fact term="Approvals">
            {approvalsOf(request.votes)} of {request.quorum}
            <Votes votes={request.votes} name={name} />
          </Fact>
        )}
        {timers.length > 0 && (
          <Fact term="Timers">
            <ul className="record-list">
              {timers.map((timer) => (
                <li key={timer.kind}>{formatTimer(timer, now)}</li>
              ))}
            </ul>
          </Fact>
        )}
        {by !== undefined && <Fact term="Decided by">{name(by)}</Fact>}
        {settledAt !== undefined && <Fact term="Settled at">{formatClock(settledAt)}</Fact>}
        {payload !== undefined && payload !== '' && (
          <Fact term={PAYLOAD_LABELS[request.state] ?? 'Reason'}>
            <span className="record-payload">{payload}</span>
          </Fact>
        )}
        {kind === 'approval' && (
          <Fact term="Attempts">
            {attempts}
            {request.isIdempotent
              ? '; idempotent: retried with the same key'
              : '; not idempotent: never retried automatically'}
          </Fact>
        )}
        {progress !== undefined && progress !== '' && <Fact term="Progress">{progress}</Fact>}
        <Fact term="Digest">
          <ShortText text={request.digest} what="digest" />
        </Fact>
        {request.views.length > 0 && (
          <Fact term="Cards">
            <CardLocations request={request} />
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
          {name(who)} {decision === 'approve' ? 'approved' : 'rejected'} at {formatClock(at)}
        </li>
      ))}
    </ul>
  );
}

const SHOWN = 10;
const COPIED_MS = 2000;

/** The beginning of a digest, with a button that copies the whole of it. */
function ShortText({ text, what }: { readonly text: string; readonly what: string }) {
  const [isCopied, setCopied] = useState(false);
  async function copy(): Promise<void> {
    const isDone = await navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    );
    setCopied(isDone);
    window.setTimeout(() => setCopied(false), COPIED_MS);
  }
  return (
    <span className="record-short">
      <code title={text}>{text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text}</code>
      <button
        type="button"
        className="record-copy"
        aria-label={`Copy the whole ${what}`}
        onClick={() => void copy()}
      >
        {isCopied ? 'Copied' : 'Copy'}
      </button>
    </span>
  );
}

const TONES: Readonly<Record<string, string>> = {
  succeeded: 'good',
  answered: 'good',
  resolved: 'good',
  failed: 'bad',
  rejected: 'bad',
  unknown: 'warn',
  expired: 'warn',
  withdrawn: 'warn',
  superseded: 'warn',
};

/** Shows a request's past, current and expected states. */
function StatePath({ steps }: { readonly steps: readonly PathStep[] }) {
  const current = steps.findLastIndex(({ isReached }) => isReached);
  return (
    <ol className="record-path" aria-label="States">
      {steps.map(({ state, isReached, at }, index) => (
        <li
          // A request can be in one state several times.
          // biome-ignore lint/suspicious/noArrayIndexKey: the steps of a way keep their places.
          key={index}
          className={`record-step ${isReached ? 'record-step-reached' : 'record-step-ahead'}`}
          data-tone={index === current ? (TONES[state] ?? 'current') : undefined}
          aria-current={index === current ? 'step' : undefined}
          title={at === undefined ? undefined : `since ${formatClock(at)}`}
        >
          {state}
          {!isReached && <span className="record-hidden"> (not reached)</span>}
        </li>
      ))}
    </ol>
  );
}
