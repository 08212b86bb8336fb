import { type KeyboardEvent, useRef, useState } from 'react';
import type { ChannelEntity } from '../../../protocol.ts';
import { act } from '../client/act.ts';
import { useEntities, useWorkspace } from '../client/store.ts';
import { Icon } from '../icon.tsx';
import { showToast } from '../toasts/toasts.tsx';
import { AttachButton, AttachedFiles, encodeFile } from './attach-files.tsx';
import { composerId } from './focus-composer.ts';
import { namesToTokens } from './mention-text.ts';
import { SuggestionList, suggestionId } from './suggestion-list.tsx';
import { findTrigger, type Suggestion, suggest } from './suggestions.ts';

interface ComposerFieldProps {
  channel: ChannelEntity;
  threadTs?: string;
  label: string;
  placeholder: string;
}

/** The message field: Enter sends, Shift+Enter adds a line, `@`, `#` and `/` open suggestions. */
export function ComposerField({ channel, threadTs, label, placeholder }: ComposerFieldProps) {
  const entities = useEntities();
  const { me } = useWorkspace();
  const [text, setText] = useDraft(`${me}:${channel.id}:${threadTs ?? ''}`);
  const [caret, setCaret] = useState(text.length);
  const [chosen, setChosen] = useState(0);
  const [isDismissed, setDismissed] = useState(true);
  const field = useRef<HTMLTextAreaElement>(null);
  const [files, setFiles] = useState<readonly File[]>([]);
  const sendText = useSend(channel.id, threadTs);
  const id = composerId(threadTs === undefined ? 'channel' : 'thread');
  const trigger = isDismissed ? undefined : findTrigger(text, caret);
  const suggestions = trigger === undefined ? [] : suggest(entities, channel, trigger);

  const type = (next: string, at: number): void => {
    setText(next);
    setCaret(at);
    setChosen(0);
    setDismissed(false);
  };
  const pick = ({ text: name }: Suggestion): void => {
    if (trigger === undefined) return;
    const before = `${text.slice(0, trigger.start)}${name} `;
    type(before + text.slice(caret).replace(/^ /, ''), before.length);
    setDismissed(true);
    placeCaret(field.current, before.length);
  };
  const send = async (): Promise<void> => {
    if (text.trim() === '' && files.length === 0) return;
    setText('');
    setFiles([]);
    setDismissed(true);
    if (await sendText(text, files)) return;
    setText(text);
    setFiles(files);
  };
  const beginMention = (): void => {
    const at = field.current?.selectionStart ?? text.length;
    const before = text.slice(0, at);
    const next = before === '' || /\s$/.test(before) ? `${before}@` : `${before} @`;
    type(next + text.slice(at), next.length);
    placeCaret(field.current, next.length);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.nativeEvent.isComposing) return;
    const suggestion = suggestions[chosen];
    if (suggestion !== undefined && isForSuggestions(event)) {
      event.preventDefault();
      if (event.key === 'Escape') setDismissed(true);
      else if (event.key === 'Enter' || event.key === 'Tab') pick(suggestion);
      else
        setChosen((chosen + (event.key === 'ArrowDown' ? 1 : suggestions.length - 1)) % suggestions.length);
      return;
    }
    if (event.key === 'Enter' && !event.shiftKey) {
      event.preventDefault();
      void send();
    }
  };

  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <SuggestionList composer={id} suggestions={suggestions} chosen={chosen} onPick={pick} />
      <div className="composer-box">
        <textarea
          ref={field}
          id={id}
          aria-label={label}
          aria-autocomplete="list"
          aria-controls={suggestions.length > 0 ? `${id}-suggestions` : undefined}
          aria-activedescendant={suggestions.length > 0 ? suggestionId(id, chosen) : undefined}
          placeholder={placeholder}
          rows={Math.min(10, text.split('\n').length)}
          value={text}
          onChange={(event) => type(event.target.value, event.target.selectionStart)}
          onSelect={(event) => setCaret(event.currentTarget.selectionStart)}
          onBlur={() => setDismissed(true)}
          onKeyDown={onKeyDown}
        />
        <AttachedFiles files={files} onChange={setFiles} />
        <div className="composer-tools">
          <button type="button" className="icon-button" aria-label="Mention someone" onClick={beginMention}>
            <Icon name="at" />
          </button>
          <AttachButton onPick={(picked) => setFiles([...files, ...picked])} />
          <span className="composer-hint" aria-hidden="true">
            {text === '' ? '' : 'Shift + Enter for a new line'}
          </span>
          <button
            type="submit"
            className="composer-send"
            aria-label="Send"
            disabled={text.trim() === '' && files.length === 0}
          >
            <Icon name="send" />
          </button>
        </div>
      </div>
    </form>
  );
}

function isForSuggestions({ key, shiftKey }: KeyboardEvent): boolean {
  return ['ArrowDown', 'ArrowUp', 'Enter', 'Tab', 'Escape'].includes(key) && !shiftKey;
}

function placeCaret(field: HTMLTextAreaElement | null, at: number): void {
  window.requestAnimationFrame(() => {
    field?.focus();
    field?.setSelectionRange(at, at);
  });
}

/** Stores an unsent draft for this window; it survives a reload. */
function useDraft(key: string): readonly [string, (text: string) => void] {
  const keptAs = `draft:${key}`;
  const [text, setText] = useState(() => window.sessionStorage.getItem(keptAs) ?? '');
  const change = (next: string): void => {
    if (next === '') window.sessionStorage.removeItem(keptAs);
    else window.sessionStorage.setItem(keptAs, next);
    setText(next);
  };
  return [text, change];
}

/** Returns a function that sends a message or a slash command; it resolves to whether it was accepted. */
function useSend(
  channel: string,
  threadTs: string | undefined,
): (typed: string, files: readonly File[]) => Promise<boolean> {
  const entities = useEntities();
  const { app } = useWorkspace();
  return async (typed, files) => {
    const text = namesToTokens(entities, typed.trim());
    if (!typed.startsWith('/') || files.length > 0) {
      const answer = await act('send', {
        ...{ channel, text },
        ...(threadTs !== undefined && { threadTs }),
        ...(files.length > 0 && { files: await Promise.all(files.map(encodeFile)) }),
      });
      return answer.ok;
    }
    const [command = '', ...rest] = text.split(' ');
    if (!app.commands.includes(command)) {
      showToast(`${command} is not a command here. Start with a space to send it as a message.`);
      return false;
    }
    if (threadTs !== undefined) {
      showToast(`${command} doesn't work in threads. Use it in the channel.`);
      return false;
    }
    const answer = await act('command', { command, text: rest.join(' '), channel });
    return answer.ok;
  };
}
