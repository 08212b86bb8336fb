import { Icon } from '../icon.tsx';
import { dismissToast, useToasts } from './toasts.ts';
import './toasts.css';

/** The notices about what the person just did, read out at once. */
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
