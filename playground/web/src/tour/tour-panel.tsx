import { type ReactNode, useState } from 'react';
import type { TourStep } from '../../../protocol.ts';
import { usePlayground } from '../client/store.ts';
import { useRoute } from '../navigation/routes.ts';
import { AuditTail } from './audit-tail.tsx';
import { StepActions } from './step-actions.tsx';
import { TourEnd } from './tour-end.tsx';
import { threadOfScreen } from './use-begin-step.ts';
import './tour.css';

/** The step that was opened by hand; it stays open until it is done. */
type Chosen = { readonly id: string | undefined; readonly wasDone: boolean };

/** The first sentence that a visitor reads; true until the first act is done. */
export const OPENING = "An AI agent wants to pay $120 to Hooper Ltd. It can't, unless you say yes.";
const ROWS = 5;

/** The tour: three acts, of which the first unfinished one is open, and more steps below. */
export function TourPanel() {
  const { tour, model } = usePlayground();
  const [chosen, setChosen] = useState<Chosen>();
  const acts = tour.filter(({ isAct }) => isAct);
  const more = tour.filter(({ isAct }) => !isAct);
  const done = acts.filter(({ isDone }) => isDone).length;
  const open = openStep(tour, acts, chosen);
  const toStep = (step: TourStep, index: number) => (
    <Step
      key={step.id}
      step={step}
      number={index + 1}
      isOpen={step.id === open}
      onToggle={() => setChosen({ id: step.id === open ? undefined : step.id, wasDone: step.isDone })}
    />
  );
  return (
    <section className="tour" aria-label="Tour">
      <h2 className="tour-title">{acts[0]?.isDone === false ? OPENING : 'Yes, no, and no power'}</h2>
      <p className="tour-progress" role="status">
        {done} of {acts.length} acts done
      </p>
      <progress className="tour-bar" value={done} max={acts.length} aria-label="Acts done" />
      <ol className="tour-steps">{acts.map(toStep)}</ol>
      {done === acts.length && <TourEnd />}
      <More isOpen={done === acts.length}>
        <p className="tour-progress">
          {more.filter(({ isDone }) => isDone).length} of {more.length} done
        </p>
        <ol className="tour-steps">{more.map(toStep)}</ol>
      </More>
      <p className="tour-model">
        {model.isScripted
          ? 'Replies come from a scripted model with fixed rules, no AI. Everything else is the real bot.'
          : `Replies come from ${model.name} and may differ from this text.`}
      </p>
    </section>
  );
}

/** The other steps, folded until the acts are done. */
function More({ isOpen, children }: { readonly isOpen: boolean; readonly children: ReactNode }) {
  return (
    <details className="tour-more" open={isOpen}>
      <summary>More</summary>
      {children}
    </details>
  );
}

interface StepProps {
  readonly step: TourStep;
  readonly number: number;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
}

function Step({ step, number, isOpen, onToggle }: StepProps) {
  const contentId = `tour-step-${step.id}`;
  const isInView = threadOfScreen(useRoute().screen) === step.thread;
  return (
    <li className={`tour-step${step.isDone ? ' tour-step-done' : ''}`}>
      <h3 className="tour-step-title">
        <button type="button" aria-expanded={isOpen} aria-controls={contentId} onClick={onToggle}>
          <span className="tour-step-number" aria-hidden="true">
            {step.isDone ? '✓' : number}
          </span>
          <span className="tour-step-name">{step.title}</span>
          {step.isDone && <span className="tour-step-mark">Done</span>}
        </button>
      </h3>
      {step.result !== undefined && <p className="tour-result">{step.result}</p>}
      {step.ledger !== undefined && <Ledger entries={step.ledger} />}
      {step.isAct && step.thread !== undefined && (step.isDone || isOpen) && (
        <AuditTail threadId={step.thread} rows={isOpen || isInView ? ROWS : 1} />
      )}
      <div id={contentId} className="tour-step-content" hidden={!isOpen}>
        <p>{step.text}</p>
        <StepActions step={step} />
      </div>
    </li>
  );
}

/** The shop's ledger, as it is in Redis. */
function Ledger({ entries }: { readonly entries: NonNullable<TourStep['ledger']> }) {
  return (
    <table className="tour-ledger">
      <caption>The shop's ledger</caption>
      <thead>
        <tr>
          <th scope="col">Entry</th>
          <th scope="col">Order</th>
          <th scope="col">Refunded</th>
        </tr>
      </thead>
      <tbody>
        {entries.map(({ orderId, amount }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: entries are only added.
          <tr key={index}>
            <td>{index + 1}</td>
            <td>{orderId}</td>
            <td>{(amount / 100).toLocaleString('en-US', { style: 'currency', currency: 'USD' })}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function openStep(
  tour: readonly TourStep[],
  acts: readonly TourStep[],
  chosen: Chosen | undefined,
): string | undefined {
  const current = acts.find(({ isDone }) => !isDone)?.id ?? tour.find(({ isDone }) => !isDone)?.id;
  if (chosen === undefined) return current;
  if (chosen.id === undefined) return undefined;
  const isDone = tour.find(({ id }) => id === chosen.id)?.isDone ?? false;
  return isDone && !chosen.wasDone ? current : chosen.id;
}
