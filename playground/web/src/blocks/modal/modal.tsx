import { type FormEvent, useId, useState } from 'react';
import { flushSync } from 'react-dom';
import type { ShownView } from '../../../../protocol.ts';
import { act } from '../../client/act.ts';
import { useEntities } from '../../client/store.ts';
import { Icon } from '../../icon.tsx';
import { collectValues } from '../elements/element-state.ts';
import { SurfaceContext, useNewSurface } from '../elements/surface.tsx';
import { validateInputs } from '../elements/validate-inputs.ts';
import { BlockList } from '../layout/block-view.tsx';
import { ScrollFrame } from '../layout/scroll-frame.tsx';
import { PlainText } from '../text/prose.tsx';
import { focusInput, handleDialogKeys, useDialog } from './use-dialog.ts';
import './modal.css';

/** The person's open modals; only the front one is visible, the others keep their values. */
export function ModalStack() {
  const modals = [...useEntities().values()]
    .filter((entity) => entity.kind === 'modal')
    .toSorted((one, other) => one.depth - other.depth);
  const front = modals.at(-1)?.key;
  return modals.map(({ key, view }) => <Modal key={key} view={view} isInFront={key === front} />);
}

type Errors = Readonly<Record<string, string>>;

/** One modal with its form. An error stays under its input until the input changes. */
export function Modal({ view, isInFront }: { readonly view: ShownView; readonly isInFront: boolean }) {
  const dialog = useDialog(isInFront);
  const id = useId();
  const [errors, setErrors] = useShownErrors(view.errors);
  const [refusal, setRefusal] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const { surface, dialog: question } = useNewSurface({
    target: { viewId: view.id },
    blocks: view.blocks,
    errors,
    onRefused: setRefusal,
    onChange: ({ blockId }) =>
      setErrors((shown) => Object.fromEntries(Object.entries(shown).filter(([key]) => key !== blockId))),
  });
  const showErrors = (found: Errors) => {
    // An error must be rendered before its input gets the focus, or screen readers do not read it.
    flushSync(() => setErrors(() => found));
    focusInput(dialog.current, Object.keys(found));
  };
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (isBusy) return;
    setRefusal(undefined);
    const problems = validateInputs(view.blocks, surface.values());
    if (Object.keys(problems).length > 0) return showErrors(problems);
    setBusy(true);
    const answer = await act('submit', {
      viewId: view.id,
      values: collectValues(view.blocks, surface.values()),
    });
    setBusy(false);
    if (!answer.ok) setRefusal(answer.error);
    else if (answer.errors !== undefined) showErrors(answer.errors);
  };
  const close = async () => {
    const answer = isBusy ? undefined : await act('close', { viewId: view.id });
    if (answer?.ok === false) setRefusal(answer.error);
  };
  return (
    <dialog
      ref={dialog}
      className="modal"
      aria-labelledby={`${id}-title`}
      aria-modal="true"
      onKeyDown={(event) => handleDialogKeys(event, () => void close())}
      onCancel={(event) => {
        if (event.target !== event.currentTarget) return;
        event.preventDefault();
        void close();
      }}
    >
      <form className="modal-form" noValidate onSubmit={(event) => void submit(event)}>
        <div className="modal-head">
          <h2 className="modal-title" id={`${id}-title`}>
            <PlainText text={view.title} />
          </h2>
          <button
            type="button"
            className="element-icon-button"
            aria-label="Close the dialog"
            onClick={() => void close()}
          >
            <Icon name="close" />
          </button>
        </div>
        <ScrollFrame className="modal-body" label="Content">
          <SurfaceContext value={surface}>
            <BlockList blocks={view.blocks} />
          </SurfaceContext>
        </ScrollFrame>
        {refusal === undefined ? null : (
          <p className="modal-refusal" role="alert">
            {refusal}
          </p>
        )}
        <div className="modal-foot">
          <button
            type="button"
            className="element-button element-button-default"
            onClick={() => void close()}
          >
            {view.close === undefined ? 'Cancel' : <PlainText text={view.close} />}
          </button>
          {view.submit === undefined ? null : (
            <button
              type="submit"
              data-first
              className="element-button element-button-primary"
              aria-disabled={isBusy || undefined}
              aria-busy={isBusy || undefined}
            >
              <PlainText text={view.submit} />
            </button>
          )}
        </div>
      </form>
      {question}
    </dialog>
  );
}

/** Returns the app's last errors, which the page can change until the app sends new ones. */
function useShownErrors(sent: Errors): [Errors, (change: (shown: Errors) => Errors) => void] {
  const text = JSON.stringify(sent);
  const [{ from, shown }, setState] = useState({ from: text, shown: sent });
  if (from !== text) setState({ from: text, shown: sent });
  return [shown, (change) => setState((state) => ({ ...state, shown: change(state.shown) }))];
}
