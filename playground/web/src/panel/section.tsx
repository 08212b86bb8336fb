import { type ReactNode, type ToggleEvent, useState } from 'react';

interface SectionProps {
  /** Under which it is remembered whether the section is open. */
  readonly name: string;
  readonly title: string;
  /** One line for whoever learns the system. */
  readonly explanation: string;
  readonly children: ReactNode;
}

/** A part of the panel that folds; whether it is open is remembered from visit to visit. */
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
