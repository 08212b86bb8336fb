import type { CallOutcome } from './rule.ts';

type Closed = Extract<CallOutcome, { kind: 'closed' }>;

/** Explains why a call has no output, using only the result itself; `what` names the call within a sentence. */
export function describeOutcome(what: string, { status, reason }: Closed): string {
  const why = sentence(reason);
  switch (status) {
    case 'denied':
      return describeDenied(what, reason);
    case 'expired':
      return `${capital(what)} expired with no decision, so nothing was done. Use the button on its card to ask again.`;
    case 'withdrawn':
      return `${capital(what)} was withdrawn, so nothing was done.`;
    case 'ran':
      return `${interrupted(what)} it ran.${note(reason)}`;
    case 'did-not-run':
      return `${interrupted(what)} it did not run.${note(reason)} Send it again if you still want it.`;
    case 'error':
      return `${capital(what)} failed: ${why}`;
    default:
      return `${capital(what)} ended with status "${status}": ${why}`;
  }
}

/** Returns the reason that a person gave for a rejection. */
export function rejectionReason({ status, reason }: Closed): string | undefined {
  const [, given] = /^Rejected by \S+?: ([\s\S]+)$/.exec(reason) ?? [];
  return status === 'denied' ? given?.trim() : undefined;
}

function describeDenied(what: string, reason: string): string {
  const given = rejectionReason({ kind: 'closed', status: 'denied', reason });
  if (given === undefined) return `${capital(what)} was denied, so it didn't run: ${sentence(reason)}`;
  return `${capital(what)} was rejected, so it didn't run. Reason: “${given}” I won't retry.`;
}

function interrupted(what: string): string {
  return `The worker stopped during ${what}. Someone checked and confirmed that`;
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
