import type { JsonObject } from '../../../slack/state/types.ts';
import { JsonValue } from './json-value.tsx';
import { type MessagePart, partsOf, roleOf } from './message-parts.ts';

/** The thread as the model sees it, oldest first. */
export function ModelMessages({ messages }: { readonly messages: readonly JsonObject[] }) {
  if (messages.length === 0) return <p className="record-soft">No turn has ended yet.</p>;
  return (
    <ol className="record-messages">
      {messages.map((message, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the log is append-only, a message keeps its place.
        <li key={index} className="record-message">
          <h4 className="record-role">{roleOf(message)}</h4>
          {partsOf(message).map((part, partIndex) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a message is never changed.
            <Part key={partIndex} part={part} />
          ))}
          <details className="record-raw">
            <summary>Raw JSON</summary>
            <JsonValue value={message} label={`Message ${index + 1} as JSON`} />
          </details>
        </li>
      ))}
    </ol>
  );
}

function Part({ part }: { readonly part: MessagePart }) {
  switch (part.kind) {
    case 'text':
      return <p className="record-text">{part.text}</p>;
    case 'call':
      return (
        <div>
          <p>
            calls <code>{part.tool}</code> with
          </p>
          <JsonValue value={part.input} label={`Arguments of ${part.tool}`} />
        </div>
      );
    case 'result':
      return (
        <div>
          <p>
            <code>{part.tool}</code> gave <strong>{part.status}</strong>
          </p>
          <JsonValue value={part.output} label={`Result of ${part.tool}`} />
        </div>
      );
    case 'pause':
      return (
        <p>
          <code>{part.tool}</code> is paused and waits for people
        </p>
      );
  }
}
