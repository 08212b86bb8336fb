import type { TourStep } from '../../../protocol.ts';
import { nameOf, useEntities, useWorkspace } from '../client/store.ts';
import { navigate, useRoute } from '../navigation/routes.ts';
import { KillButton } from './kill-button.tsx';
import { screenOfThread, threadOfScreen, useBeginStep } from './use-begin-step.ts';

/** The actions of a step in order: send its prompt, then view the thread as others. The next one is the green button. */
export function StepActions({ step }: { readonly step: TourStep }) {
  const entities = useEntities();
  const { me } = useWorkspace();
  const { screen } = useRoute();
  const { isSending, begin } = useBeginStep();
  const { thread, next } = step;
  const firstName = (userId: string) => nameOf(entities, userId).split(' ')[0] ?? userId;
  const isHere = (as: string) => thread !== undefined && as === me && threadOfScreen(screen) === thread;
  const sent = thread !== undefined;
  const main = sent ? next.find(({ as, kills }) => kills !== true && !isHere(as)) : undefined;

  const send = (
    <button
      type="button"
      className={sent ? 'tour-button' : 'tour-button tour-button-main'}
      disabled={isSending}
      onClick={() => void begin(step)}
    >
      {sent ? 'Send again' : 'Send'} as {firstName(step.as)}
    </button>
  );
  return (
    <>
      <ol className="tour-actions">
        {!sent && (
          <li>
            <blockquote className="tour-prompt">{step.prompt}</blockquote>
            {send}
          </li>
        )}
        {next.map((each) => (
          <li key={each.text}>
            <p>
              As {firstName(each.as)}: {each.text}
            </p>
            {each.kills === true && <KillButton />}
            {sent && each.kills !== true && !isHere(each.as) && (
              <button
                type="button"
                className={each === main && !step.isDone ? 'tour-button tour-button-main' : 'tour-button'}
                onClick={() => navigate({ as: each.as, screen: screenOfThread(thread, step.channel) })}
              >
                {each.as === me ? 'Open the thread' : `Switch to ${firstName(each.as)}`}
              </button>
            )}
          </li>
        ))}
      </ol>
      {sent && <div className="tour-again">{send}</div>}
    </>
  );
}
