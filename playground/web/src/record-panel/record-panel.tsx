import { type ReactNode, type ToggleEvent, useState } from 'react';
import { AuditChain } from './audit-chain.tsx';
import { describeQueue, describeThread } from './describe-thread.ts';
import { ModelMessages } from './model-messages.tsx';
import { RequestCard } from './request-card.tsx';
import { useRecord } from './use-record.ts';
import './record-panel.css';

/** Shows the record of the open thread; read-only. */
export function RecordPanel({ threadId }: { readonly threadId: string | undefined }) {
  return (
    <section className="record-panel" aria-label="Record">
      {threadId === undefined ? (
        <p className="record-empty">
          This panel shows a thread's record in Redis: its state, its requests and their timers, the audit
          chain and the model's messages. Open a thread in which the bot was mentioned.
        </p>
      ) : (
        <OpenThread threadId={threadId} />
      )}
    </section>
  );
}

function OpenThread({ threadId }: { readonly threadId: string }) {
  const { isLoading, record, now } = useRecord(threadId);
  if (isLoading) return <p className="record-empty">Reading the record…</p>;
  if (record === undefined)
    return (
      <p className="record-empty">
        There is no record of this thread. It starts when someone mentions the bot here.
      </p>
    );
  const { requests, audit, messages } = record;
  const queue = describeQueue(record);
  return (
    <>
      <Section
        name="thread"
        title="Thread state"
        explanation="Only one worker at a time runs a turn: it holds a lease, and its fencing token is checked at every write."
      >
        <p className="record-state" data-state={record.state}>
          {describeThread(record, now)}
        </p>
        {queue !== '' && <p>{queue}</p>}
      </Section>
      <Section
        name="requests"
        title={`Requests (${requests.length})`}
        explanation="Redis holds the truth; the card in Slack is a view of it, updated at each revision."
      >
        {requests.length === 0 && <p className="record-soft">No requests in this thread.</p>}
        {requests.map((request) => (
          <RequestCard key={request.id} request={request} rows={audit} now={now} />
        ))}
      </Section>
      <Section
        name="audit"
        title={`Audit chain (${audit.length})`}
        explanation="Each row's hash covers the previous row, so a changed or removed row breaks the chain."
      >
        <AuditChain record={record} />
      </Section>
      <Section
        name="messages"
        title={`The model's messages (${messages.length})`}
        explanation="Everything the model sees. A call that waits for people has no result yet."
      >
        <ModelMessages messages={messages} />
      </Section>
    </>
  );
}

interface SectionProps {
  /** Key under which the open state is stored. */
  readonly name: string;
  readonly title: string;
  /** One line of explanation for newcomers. */
  readonly explanation: string;
  readonly children: ReactNode;
}

/** A collapsible section of the panel; its open state is stored. */
export function Section({ name, title, explanation, children }: SectionProps) {
  const key = `record-panel:${name}`;
  const [isOpen, setOpen] = useState(() => window.localStorage.getItem(key) !== 'closed');
  function toggle(event: ToggleEvent<HTMLDetailsElement>): void {
    const { open } = event.currentTarget;
    setOpen(open);
    window.localStorage.setItem(key, open ? 'open' : 'closed');
  }
  return (
    <details className="record-section" open={isOpen} onToggle={toggle}>
      <summary className="record-section-summary">
        <h3 className="record-section-title">{title}</h3>
      </summary>
      <p className="record-explanation">{explanation}</p>
      {children}
    </details>
  );
}
