import type { JsonObject } from '../../../../slack/state/types.ts';
import { isObject, stringOf } from '../json.ts';
import { PageLink } from '../text/page-link.tsx';
import { PlainText } from '../text/prose.tsx';

/** Shows an image as its alt text and a link: this page loads nothing from other sites. */
export function Image({
  image,
  isSmall = false,
}: {
  readonly image: JsonObject;
  readonly isSmall?: boolean;
}) {
  const file = isObject(image.slack_file) ? image.slack_file : {};
  const url = stringOf(image.image_url) || stringOf(file.url);
  return (
    <span className={isSmall ? 'block-image block-image-small' : 'block-image'}>
      <PageLink url={url}>{stringOf(image.alt_text)}</PageLink>
    </span>
  );
}

/** An image block with its title. */
export function ImageBlock({ block }: { readonly block: JsonObject }) {
  return (
    <figure className="block-figure">
      {block.title === undefined ? null : (
        <figcaption>
          <PlainText text={block.title} />
        </figcaption>
      )}
      <Image image={block} />
    </figure>
  );
}
