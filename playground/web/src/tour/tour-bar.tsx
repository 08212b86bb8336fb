import type { TourStep } from '../../../protocol.ts';
import { usePlayground } from '../client/store.ts';
import { navigate, useRoute } from '../navigation/routes.ts';
import { useIsOnePane, usePanes } from '../panes/panes.ts';
import { AuditTail } from './audit-tail.tsx';
import { KillButton } from './kill-button.tsx';
import { OPENING } from './tour-panel.tsx';
import { screenOfThread, threadOfScreen, useBeginStep } from './use-begin-step.ts';
import './tour.css';

/** The current act at the foot of a phone, so that nobody has to open the tour between two clicks. */
export function TourBar() {
  const { tour } = usePlayground();
  const { panel } = usePanes();
  const { screen } = useRoute();
  const { isSending, begin } = useBeginStep();
  const isOnePane = useIsOnePane();
  const acts = tour.filter(({ isAct }) => isAct);
  const thread = threadOfScreen(screen);
  const open = acts.find((act) => thread !== undefined && act.thread === thread);
  const next = acts.find(({ isDone }) => !isDone);
  const act = open ?? next;
  if (!isOnePane || panel !== undefined || act === undefined) return null;
  const [first] = act.next;
  const number = acts.indexOf(act) + 1;
  return (
    <section className="tour-foot" aria-label="Current act">
      <p>
        <strong>
          {act.isDone ? '✓' : number} {act.title}
        </strong>{' '}
        {describeAct(act, { isFirst: number === 1, isOpen: open !== undefined })}
      </p>
      {open !== undefined && open.thread !== undefined && <AuditTail threadId={open.thread} rows={1} />}
      {open !== undefined && !act.isDone && act.next.some(({ kills }) => kills) && <KillButton />}
      {open === undefined && act.thread !== undefined && first !== undefined && (
        <button
          type="button"
          className="tour-button tour-button-main"
          onClick={() => navigate({ as: first.as, screen: screenOfThread(act.thread, act.channel) })}
        >
          Open the card
        </button>
      )}
      {next !== undefined && (act.isDone || next.thread === undefined) && (
        <button
          type="button"
          className="tour-button tour-button-main"
          disabled={isSending}
          onClick={() => void begin(next)}
        >
          Next: {next.title}
        </button>
      )}
    </section>
  );
}

/** Says what comes next: of an act that has not begun what it is about, of one that has the next click. */
function describeAct(
  { isDone, result, text, thread, next }: TourStep,
  { isFirst, isOpen }: { readonly isFirst: boolean; readonly isOpen: boolean },
): string | undefined {
  if (isDone) return result;
  if (thread === undefined) return text.slice(0, text.indexOf('.') + 1);
  return isFirst && isOpen ? OPENING : next[0]?.text;
}
