import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import type { MessageEntity } from '../../../protocol.ts';
import { act } from '../client/act.ts';
import { useEntity, useWorkspace } from '../client/store.ts';
import { focusComposer } from '../composer/focus-composer.ts';
import { Icon, type IconName } from '../icon.tsx';
import { navigate } from '../navigation/routes.ts';
import { showToast } from '../toasts/toasts.tsx';
import { permalinkOf } from './message-links.ts';
import { ReactionPicker } from './reactions.tsx';
import './message-toolbar.css';

interface MessageToolbarProps {
  message: MessageEntity;
  isInThread: boolean;
  onEdit: () => void;
}

/** The actions on a message, shown on hover and focus. One Tab stop; arrow keys move within. */
export function MessageToolbar({ message, isInThread, onEdit }: MessageToolbarProps) {
  const { me, app } = useWorkspace();
  const channel = useEntity(`channel:${message.channel}`);
  const [opened, setOpened] = useState<'reactions' | 'delete' | undefined>();
  const bar = useRef<HTMLDivElement>(null);
  const canWrite = channel?.isMember === true && !channel.isArchived;
  const isMine = message.user === me;
  const close = (): void => {
    setOpened(undefined);
    bar.current?.querySelector('button')?.focus();
  };
  return (
    <div className="message-toolbar-anchor">
      <div
        className="message-toolbar"
        role="toolbar"
        aria-label="Message actions"
        ref={bar}
        onKeyDown={moveByArrow}
        data-open={opened !== undefined}
      >
        {!isInThread && (
          <Tool icon="reply" label="Reply in thread" isFirst onClick={() => openThread(message)} />
        )}
        {canWrite && (
          <Tool
            icon="smile"
            label="Add reaction"
            isFirst={isInThread}
            onClick={() => setOpened(opened === 'reactions' ? undefined : 'reactions')}
          />
        )}
        <Tool
          icon="link"
          label="Copy link"
          isFirst={isInThread && !canWrite}
          onClick={() => void copyLink(message)}
        />
        {app.shortcuts.includes(ASK_SHORTCUT) && (
          <Tool
            icon="at"
            label={`Ask ${app.name} about this`}
            onClick={() => void act('shortcut', { ...placeOf(message), callbackId: ASK_SHORTCUT })}
          />
        )}
        {isMine && canWrite && <Tool icon="edit" label="Edit message" onClick={onEdit} />}
        {isMine && canWrite && (
          <Tool icon="trash" label="Delete message" onClick={() => setOpened('delete')} />
        )}
      </div>
      {opened === 'reactions' && <ReactionPicker message={message} onDone={close} />}
      {opened === 'delete' && <DeleteMessage message={message} onDone={close} />}
    </div>
  );
}

/** The shortcut of the bot in the menu of a message. */
const ASK_SHORTCUT = 'ask_about_message';

function placeOf({ channel, ts }: MessageEntity): { channel: string; ts: string } {
  return { channel, ts };
}

interface ToolProps {
  icon: IconName;
  label: string;
  isFirst?: boolean;
  onClick: () => void;
}

function Tool({ icon, label, isFirst = false, onClick }: ToolProps) {
  return (
    <button
      type="button"
      className="icon-button"
      aria-label={label}
      title={label}
      tabIndex={isFirst ? 0 : -1}
      onClick={onClick}
    >
      <Icon name={icon} />
    </button>
  );
}

function openThread({ channel, ts }: MessageEntity): void {
  navigate({ screen: { kind: 'channel', channel, threadTs: ts } });
  focusComposer('thread');
}

async function copyLink(message: MessageEntity): Promise<void> {
  const link = `${window.location.origin}${permalinkOf(message)}`;
  try {
    await navigator.clipboard.writeText(link);
    showToast('Link copied.');
  } catch {
    showToast(`The browser blocked copying. Here is the link: ${link}`);
  }
}

function moveByArrow(event: KeyboardEvent<HTMLDivElement>): void {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (step === undefined) return;
  const buttons = [...event.currentTarget.querySelectorAll('button')];
  const current = buttons.findIndex((button) => button.contains(document.activeElement));
  buttons[(current + step + buttons.length) % buttons.length]?.focus();
  event.preventDefault();
}

/** Confirms the deletion of a message. */
function DeleteMessage({ message, onDone }: { message: MessageEntity; onDone: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog className="delete-message" ref={dialog} aria-labelledby={titleId} onClose={onDone}>
      <h2 id={titleId}>Delete message</h2>
      <p>Delete this message? This can't be undone.</p>
      <div className="delete-message-buttons">
        <button type="button" className="text-button" onClick={() => dialog.current?.close()}>
          Cancel
        </button>
        <button
          type="button"
          className="text-button text-button-bad"
          onClick={() => {
            void act('delete', { channel: message.channel, ts: message.ts });
            dialog.current?.close();
          }}
        >
          Delete
        </button>
      </div>
    </dialog>
  );
}
