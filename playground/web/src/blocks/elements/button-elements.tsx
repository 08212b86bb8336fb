import { useState } from 'react';
import { useWorkspace } from '../../client/store.ts';
import { Icon } from '../../icon.tsx';
import { buttonStyle, isObject, stringOf, strings, textOf } from '../json.ts';
import { PageLink, useOpenLink } from '../text/page-link.tsx';
import { PlainText } from '../text/prose.tsx';
import { isSafeUrl } from '../text/resolve-link.ts';
import type { Slot } from './element-state.ts';
import { useClick } from './use-click.ts';

/** A button; one with a URL also opens it. Only its label is shown, never its value. */
export function ButtonElement({ blockId, element }: Slot) {
  const { isBusy, click } = useClick({ blockId, element }, { awaitsResponse: true });
  const label = stringOf(element.accessibility_label);
  const url = stringOf(element.url);
  const className = `element-button element-button-${buttonStyle(element.style)}`;
  const send = () => click(typeof element.value === 'string' ? element.value : undefined);
  const openLink = useOpenLink();
  const isAskedFirst = isObject(element.confirm);
  const press = async () => {
    const answer = await send();
    if (answer !== undefined) openLink(url);
  };
  if (isSafeUrl(url) && !isAskedFirst) {
    return (
      <PageLink url={url} className={className} onFollow={() => void send()} {...(label !== '' && { label })}>
        <PlainText text={element.text} />
      </PageLink>
    );
  }
  return (
    <button
      type="button"
      className={className}
      aria-label={label === '' ? undefined : label}
      aria-disabled={isBusy || undefined}
      aria-busy={isBusy || undefined}
      onClick={() => void press()}
    >
      <PlainText text={element.text} />
    </button>
  );
}

/** A small icon button, possibly visible only to some people. */
export function IconButton({ blockId, element }: Slot) {
  const { isBusy, click } = useClick({ blockId, element });
  const { me } = useWorkspace();
  if (Array.isArray(element.visible_to_user_ids) && !strings(element.visible_to_user_ids).includes(me))
    return null;
  const label = stringOf(element.accessibility_label) || textOf(element.text);
  return (
    <button
      type="button"
      className="element-icon-button"
      aria-label={label}
      title={textOf(element.text)}
      aria-disabled={isBusy || undefined}
      aria-busy={isBusy || undefined}
      onClick={() => void click(typeof element.value === 'string' ? element.value : undefined)}
    >
      <Icon name="trash" />
    </button>
  );
}

/** Thumbs up and thumbs down; the last one that was sent stays pressed. */
export function FeedbackButtons({ blockId, element }: Slot) {
  const { isBusy, click } = useClick({ blockId, element });
  const [sent, setSent] = useState<string>();
  const give = async (value: string) => {
    const answer = await click(value);
    if (answer?.ok === true) setSent(value);
  };
  const buttons = [
    { button: element.positive_button, icon: '👍' },
    { button: element.negative_button, icon: '👎' },
  ];
  return buttons.map(({ button, icon }) => {
    if (!isObject(button)) return null;
    const value = stringOf(button.value);
    return (
      <button
        key={icon}
        type="button"
        className="element-icon-button"
        aria-label={stringOf(button.accessibility_label) || textOf(button.text)}
        title={textOf(button.text)}
        aria-pressed={sent === value}
        aria-disabled={isBusy || undefined}
        onClick={() => void give(value)}
      >
        <span aria-hidden="true">{icon}</span>
      </button>
    );
  });
}
