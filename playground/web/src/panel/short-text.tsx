import { useState } from 'react';

const SHOWN = 10;
const COPIED_MS = 2000;

/** The beginning of a digest, with a button that copies the whole of it. */
export function ShortText({ text, what }: { readonly text: string; readonly what: string }) {
  const [isCopied, setCopied] = useState(false);
  async function copy(): Promise<void> {
    const isDone = await navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    );
    setCopied(isDone);
    window.setTimeout(() => setCopied(false), COPIED_MS);
  }
  return (
    <span className="record-short">
      <code title={text}>{text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text}</code>
      <button
        type="button"
        className="record-copy"
        aria-label={`Copy the whole ${what}`}
        onClick={() => void copy()}
      >
        {isCopied ? 'Copied' : 'Copy'}
      </button>
    </span>
  );
}
