import { useState } from 'react';
import type { TourStep } from '../../../protocol.ts';
import { usePlayground } from '../client/store.ts';
import { StepActions } from './step-actions.tsx';
import { TourEnd } from './tour-end.tsx';
import './tour.css';

/** The step that was opened by hand; it stays open until it is done. */
type Chosen = { readonly id: string | undefined; readonly wasDone: boolean };

/** The tour; the first unfinished step is open. */
export function TourPanel() {
  const { tour, model } = usePlayground();
  const [chosen, setChosen] = useState<Chosen>();
  const done = tour.filter(({ isDone }) => isDone).length;
  const open = openStep(tour, chosen);
  return (
    <section className="tour" aria-label="Tour">
      <h2 className="tour-title">Your first five minutes</h2>
      <p className="tour-progress" role="status">
        {done} of {tour.length} done
      </p>
      <progress className="tour-bar" value={done} max={tour.length} aria-label="Steps done" />
      <p className="tour-model">
        {model.isScripted
          ? 'Replies come from a scripted model with fixed rules, no AI. Everything else is the real bot.'
          : `Replies come from ${model.name} and may differ from this text.`}
      </p>
      {done === tour.length && <TourEnd />}
      <ol className="tour-steps">
        {tour.map((step, index) => (
          <Step
            key={step.id}
            step={step}
            number={index + 1}
            isOpen={step.id === open}
            onToggle={() => setChosen({ id: step.id === open ? undefined : step.id, wasDone: step.isDone })}
          />
        ))}
      </ol>
    </section>
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
      <div id={contentId} className="tour-step-content" hidden={!isOpen}>
        <p>{step.text}</p>
        <StepActions step={step} />
      </div>
    </li>
  );
}

function openStep(tour: readonly TourStep[], chosen: Chosen | undefined): string | undefined {
  const current = tour.find(({ isDone }) => !isDone)?.id;
  if (chosen === undefined) return current;
  if (chosen.id === undefined) return undefined;
  const isDone = tour.find(({ id }) => id === chosen.id)?.isDone ?? false;
  return isDone && !chosen.wasDone ? current : chosen.id;
}
