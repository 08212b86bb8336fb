import { useState } from 'react';

/** What a person has begun to write somewhere, kept for this window, also over a reload. */
export function useDraft(key: string): readonly [string, (text: string) => void] {
  const keptAs = `draft:${key}`;
  const [text, setText] = useState(() => window.sessionStorage.getItem(keptAs) ?? '');
  const change = (next: string): void => {
    if (next === '') window.sessionStorage.removeItem(keptAs);
    else window.sessionStorage.setItem(keptAs, next);
    setText(next);
  };
  return [text, change];
}
