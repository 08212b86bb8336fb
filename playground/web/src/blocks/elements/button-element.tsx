import { buttonStyle, isObject, stringOf } from '../json.ts';
import { PageLink } from '../text/page-link.tsx';
import { resolveLink } from '../text/resolve-link.ts';
import { PlainText } from '../text/text.tsx';
import type { Slot } from './element-state.ts';
import { useClick } from './use-click.ts';

/** A button; one with an address also opens it. Nothing it carries is shown but its own words. */
export function ButtonElement({ blockId, element }: Slot) {
  const { isBusy, click } = useClick({ blockId, element });
  const label = stringOf(element.accessibility_label);
  const url = stringOf(element.url);
  const className = `element-button element-button-${buttonStyle(element.style)}`;
  const send = () => click(typeof element.value === 'string' ? element.value : undefined);
  const link = resolveLink(url, '');
  const isAskedFirst = isObject(element.confirm);
  const press = async () => {
    const answer = await send();
    if (answer !== undefined && link.kind === 'outside')
      window.open(link.href, '_blank', 'noopener,noreferrer');
  };
  if (link.kind !== 'none' && !isAskedFirst) {
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
