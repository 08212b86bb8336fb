import { emojiOf } from './emoji-names.ts';

/** One emoji by Slack's name for it; a name that is not known is shown between its colons. */
export function Emoji({ name, unicode }: { readonly name: string; readonly unicode?: string }) {
  const drawn = unicode ?? emojiOf(name);
  if (drawn === undefined) return <span className="prose-emoji-name">{`:${name}:`}</span>;
  return (
    <span className="prose-emoji" role="img" aria-label={name.replaceAll('_', ' ')} title={`:${name}:`}>
      {drawn}
    </span>
  );
}
