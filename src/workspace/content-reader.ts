import type { ProcessSetup } from './installation.ts';

/** Returns what redacts the text that spans may show; `undefined` if they show none. */
export function contentReader({
  captureContent = false,
  secrets,
}: Pick<ProcessSetup, 'captureContent' | 'secrets'>): ((text: string) => string) | undefined {
  return captureContent ? (text) => secrets.redact(text) : undefined;
}
