import type { PathStep } from './path-of.ts';
import { spellMoment } from './spell-time.ts';

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

/** Draws a request's way through its states: those it was in, the one it is in, and those that lie ahead. */
export function StatePath({ steps }: { readonly steps: readonly PathStep[] }) {
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
          title={at === undefined ? undefined : `since ${spellMoment(at)}`}
        >
          {state}
          {!isReached && <span className="record-hidden"> (not reached)</span>}
        </li>
      ))}
    </ol>
  );
}
