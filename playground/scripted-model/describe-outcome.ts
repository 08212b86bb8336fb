import type { CallOutcome } from './rule.ts';

type Closed = Extract<CallOutcome, { kind: 'closed' }>;

/** Explains why a call has no output, using only the result itself; `what` names the call within a sentence. */
export function describeOutcome(what: string, { status, reason }: Closed): string {
  const why = sentence(reason);
  switch (status) {
    case 'denied':
      return describeDenied(what, reason);
    case 'expired':
      return `Nobody decided on ${what} in time: it has expired, and nothing was done. You can ask again on its card.`;
    case 'withdrawn':
      return `${capital(what)} was withdrawn, so nothing was done.`;
    case 'ran':
      return `${interrupted(what)} says that it did run.${note(reason)}`;
    case 'did-not-run':
      return `${interrupted(what)} says that it did not run.${note(reason)} Say it again if you still want it.`;
    case 'error':
      return `${capital(what)} ended with an error: ${why}`;
    default:
      return `${capital(what)} ended as "${status}": ${why}`;
  }
}

function describeDenied(what: string, reason: string): string {
  const [, given] = /^Rejected by \S+?: ([\s\S]+)$/.exec(reason) ?? [];
  if (given === undefined) return `${capital(what)} was denied, so it did not run: ${sentence(reason)}`;
  return `${capital(what)} was rejected, so it did not run. The reason given: “${given.trim()}” I leave it at that.`;
}

function interrupted(what: string): string {
  return `The process ended in the middle of ${what}. A person has looked and`;
}

/** Returns the person's note, which follows the record's own text and a colon. */
function note(reason: string): string {
  const [, written] = /^[^:]*: ([\s\S]+)$/.exec(reason) ?? [];
  return written === undefined ? '' : ` Their note: “${written.trim()}”`;
}

function sentence(text: string): string {
  const trimmed = text.trim();
  return /[.!?]$/.test(trimmed) ? trimmed : `${trimmed}.`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
