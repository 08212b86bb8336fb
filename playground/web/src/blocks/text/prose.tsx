import type { JSX } from 'react';
import { ScrollFrame } from '../layout/scroll-frame.tsx';
import { renderList } from '../render-list.tsx';
import { formatDate } from './format-date.ts';
import { BroadcastMention, ChannelMention, Emoji, GroupMention, UserMention } from './inline-elements.tsx';
import { PageLink } from './page-link.tsx';
import { parseMrkdwn } from './parse-mrkdwn.ts';
import type { Inline, InlineStyle, ListItem, Passage } from './passages.ts';
import { readPlainText, readTextObject } from './read-text-object.ts';
import './prose.css';

const TAGS = { bold: 'strong', italic: 'em', strike: 's', underline: 'u' } as const satisfies Record<
  InlineStyle,
  keyof JSX.IntrinsicElements
>;
const HEADINGS = ['h3', 'h4', 'h5', 'h6'] as const;

/** Renders parsed text. */
export function Prose({ passages }: { readonly passages: readonly Passage[] }) {
  return renderList(passages, (passage) => <PassageView passage={passage} />);
}

/** Renders inline pieces. */
function Inlines({ content }: { readonly content: readonly Inline[] }) {
  return renderList(content, (piece) => <InlineView piece={piece} />);
}

function PassageView({ passage }: { readonly passage: Passage }) {
  switch (passage.kind) {
    case 'paragraph':
      return (
        <div className="prose-paragraph">
          <Inlines content={passage.content} />
        </div>
      );
    case 'heading': {
      const Heading = HEADINGS[Math.min(passage.level, HEADINGS.length) - 1] ?? 'h6';
      return (
        <Heading className="prose-heading">
          <Inlines content={passage.content} />
        </Heading>
      );
    }
    case 'preformatted':
      return (
        <pre className="prose-preformatted">
          <Inlines content={passage.content} />
        </pre>
      );
    case 'quote':
      return (
        <blockquote className="prose-quote">
          <Prose passages={passage.content} />
        </blockquote>
      );
    case 'list':
      return passage.isOrdered ? (
        <ol className="prose-list" start={passage.start}>
          <Items items={passage.items} />
        </ol>
      ) : (
        <ul className="prose-list">
          <Items items={passage.items} />
        </ul>
      );
    case 'table':
      return <TablePassage {...passage} />;
    case 'rule':
      return <hr className="prose-rule" />;
  }
}

function Items({ items }: { readonly items: readonly ListItem[] }) {
  return renderList(items, ({ isChecked, content }) => (
    <li className={isChecked === undefined ? undefined : 'prose-task'}>
      {isChecked === undefined ? null : (
        <span className="prose-checkbox" role="img" aria-label={isChecked ? 'done' : 'not done'}>
          {isChecked ? '☑' : '☐'}
        </span>
      )}
      <Prose passages={content} />
    </li>
  ));
}

function TablePassage({ alignments, head, rows }: Extract<Passage, { kind: 'table' }>) {
  const styleOf = (column: number) => ({ textAlign: alignments[column] ?? 'left' });
  const cells = (row: readonly (readonly Inline[])[], Cell: 'th' | 'td') =>
    renderList(head, (_, column) => (
      <Cell style={styleOf(column)} scope={Cell === 'th' ? 'col' : undefined}>
        <Inlines content={row[column] ?? []} />
      </Cell>
    ));
  return (
    <ScrollFrame className="prose-table-frame" label="Table">
      <table className="prose-table">
        <thead>
          <tr>{cells(head, 'th')}</tr>
        </thead>
        <tbody>
          {renderList(rows, (row) => (
            <tr>{cells(row, 'td')}</tr>
          ))}
        </tbody>
      </table>
    </ScrollFrame>
  );
}

function InlineView({ piece }: { readonly piece: Inline }) {
  switch (piece.kind) {
    case 'text':
      return piece.text;
    case 'break':
      return <br />;
    case 'styled': {
      const Tag = TAGS[piece.style];
      return (
        <Tag>
          <Inlines content={piece.content} />
        </Tag>
      );
    }
    case 'code':
      return <code className="prose-code">{piece.text}</code>;
    case 'link':
      return (
        <PageLink url={piece.url}>
          <Inlines content={piece.content} />
        </PageLink>
      );
    case 'user':
      return <UserMention id={piece.id} />;
    case 'channel':
      return <ChannelMention id={piece.id} {...(piece.name !== undefined && { name: piece.name })} />;
    case 'group':
      return <GroupMention id={piece.id} />;
    case 'broadcast':
      return <BroadcastMention range={piece.range} />;
    case 'emoji':
      return <Emoji name={piece.name} {...(piece.unicode !== undefined && { unicode: piece.unicode })} />;
    case 'color':
      return <Color value={piece.value} />;
    case 'date':
      return <Moment {...piece} />;
  }
}

function Color({ value }: { readonly value: string }) {
  const isColor = /^#[0-9a-f]{3,8}$/i.test(value);
  return (
    <>
      {value}
      {isColor ? <span className="prose-color" style={{ backgroundColor: value }} /> : null}
    </>
  );
}

function Moment({ timestamp, format, url, fallback }: Extract<Inline, { kind: 'date' }>) {
  const formatted = formatDate(timestamp, format, { now: Date.now() });
  if (formatted === undefined) return fallback;
  const moment = new Date(timestamp * 1000);
  const time = (
    <time dateTime={moment.toISOString()} title={moment.toString()}>
      {formatted}
    </time>
  );
  return url === undefined ? time : <PageLink url={url}>{time}</PageLink>;
}

/** A text object of Block Kit, plain or with Slack's markup. */
export function Text({ text }: { readonly text: unknown }) {
  return <Prose passages={readTextObject(text)} />;
}

/** A `plain_text` object on a line of something else: a label, a button, a title. */
export function PlainText({ text }: { readonly text: unknown }) {
  return <Inlines content={readPlainText(text)} />;
}

/** Renders the text of a message without blocks. */
export function MessageText({ text }: { readonly text: string }) {
  return (
    <div className="prose">
      <Prose passages={parseMrkdwn(text)} />
    </div>
  );
}
