import { useId } from 'react';
import type { JsonObject } from '../../../../slack/state/types.ts';
import { buttonStyle } from '../json.ts';
import { PlainText, Text } from '../text/prose.tsx';
import { handleDialogKeys, useDialog } from './use-dialog.ts';
import './modal.css';

/** A confirmation before a click and the callback for its answer. */
export interface Confirmation {
  readonly confirm: JsonObject;
  readonly answer: (isSure: boolean) => void;
}

/** Confirmation dialog; closing it any other way means no. */
export function ConfirmDialog({ confirm, answer }: Confirmation) {
  const dialog = useDialog(true);
  const id = useId();
  const style = buttonStyle(confirm.style) === 'danger' ? 'danger' : 'primary';
  return (
    <dialog
      ref={dialog}
      className="modal modal-confirm"
      aria-labelledby={`${id}-title`}
      aria-describedby={`${id}-text`}
      aria-modal="true"
      onKeyDown={(event) => handleDialogKeys(event, () => answer(false))}
      onCancel={(event) => {
        event.preventDefault();
        answer(false);
      }}
    >
      <h2 className="modal-title" id={`${id}-title`}>
        <PlainText text={confirm.title} />
      </h2>
      <div className="modal-body prose" id={`${id}-text`}>
        <Text text={confirm.text} />
      </div>
      <div className="modal-foot">
        <button type="button" className="element-button element-button-default" onClick={() => answer(false)}>
          <PlainText text={confirm.deny} />
        </button>
        <button
          type="button"
          data-first
          className={`element-button element-button-${style}`}
          onClick={() => answer(true)}
        >
          <PlainText text={confirm.confirm} />
        </button>
      </div>
    </dialog>
  );
}
