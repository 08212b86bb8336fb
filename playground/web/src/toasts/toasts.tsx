import { useSyncExternalStore } from 'react';
import { createSignal } from '../client/signal.ts';
import { Icon } from '../icon.tsx';
import './toasts.css';

/** A short notice about the person's last action. */
export interface Toast {
  readonly id: number;
  readonly text: string;
}

const SHOWN_MS = 7000;
const changed = createSignal();
let toasts: readonly Toast[] = [];
let lastId = 0;

/** Shows one sentence for a few seconds; the same sentence is not shown twice at once. */
export function showToast(text: string): void {
  lastId += 1;
  const id = lastId;
  toasts = [...toasts.filter((toast) => toast.text !== text), { id, text }];
  changed.send();
  window.setTimeout(() => dismissToast(id), SHOWN_MS);
}

/** Removes a notice early. */
function dismissToast(id: number): void {
  toasts = toasts.filter((toast) => toast.id !== id);
  changed.send();
}

/** The notices that are shown, oldest first. */
function useToasts(): readonly Toast[] {
  return useSyncExternalStore(changed.subscribe, () => toasts);
}

/** The current notices, announced to screen readers. */
export function ToastList() {
  const toasts = useToasts();
  return (
    <div className="toasts" role="alert">
      {toasts.map(({ id, text }) => (
        <div className="toast" key={id}>
          <span>{text}</span>
          <button type="button" className="toast-close" aria-label="Dismiss" onClick={() => dismissToast(id)}>
            <Icon name="close" size={16} />
          </button>
        </div>
      ))}
    </div>
  );
}
