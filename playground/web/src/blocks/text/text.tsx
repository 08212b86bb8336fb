import { parseMrkdwn } from './parse-mrkdwn.ts';
import { Inlines, Prose } from './prose.tsx';
import { readPlainText, readTextObject } from './read-text-object.ts';

/** A text object of Block Kit, plain or with Slack's markup. */
export function Text({ text }: { readonly text: unknown }) {
  return <Prose passages={readTextObject(text)} />;
}

/** A `plain_text` object on a line of something else: a label, a button, a title. */
export function PlainText({ text }: { readonly text: unknown }) {
  return <Inlines content={readPlainText(text)} />;
}

/** The text of a message that has no blocks. */
export function MessageText({ text }: { readonly text: string }) {
  return (
    <div className="prose">
      <Prose passages={parseMrkdwn(text)} />
    </div>
  );
}
