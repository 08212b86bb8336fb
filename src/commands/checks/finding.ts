import { describeError } from '../../agent/errors.ts';
import type { ManifestProblem } from '../../tools/manifest/problem.ts';

/** The place of a finding in the manifest, and how to fix it. */
export interface FindingDetails {
  readonly place?: Omit<ManifestProblem, 'message'> | undefined;
  readonly fix?: string | undefined;
}

/** One line of the doctor: the check, its status, what was found, and for a problem its place and how to fix it. */
export interface Finding extends FindingDetails {
  readonly check: string;
  readonly status: 'ok' | 'warning' | 'failed' | 'not-checked';
  readonly message: string;
}

export function ok(check: string, message: string): Finding {
  return { check, status: 'ok', message };
}

export function failed(check: string, message: string, details: FindingDetails = {}): Finding {
  return { check, status: 'failed', message, ...details };
}

export function warning(check: string, message: string, details: FindingDetails = {}): Finding {
  return { check, status: 'warning', message, ...details };
}

export function notChecked(check: string, message: string): Finding {
  return { check, status: 'not-checked', message };
}

/** Turns a mistake in the manifest into a finding. */
export function fromProblem(status: 'failed' | 'warning', { message, ...place }: ManifestProblem): Finding {
  return { check: 'manifest', status, message, place };
}

/** Writes a finding as one sentence: its place, what is wrong, how to fix it. */
export function describeFinding({ place, message, fix }: Finding): string {
  const at =
    place === undefined
      ? ''
      : `${place.file}:${place.line}:${place.column}: ${place.path === '' ? '' : `${place.path}: `}`;
  const what = oneLine(message);
  return `${at}${fix === undefined ? what : `${what.replace(/[.;:]$/, '')}; ${fix}`}`;
}

/** Joins the lines of a message, as others write theirs, into one. */
function oneLine(text: string): string {
  return text.trim().replace(/\s*[\r\n]\s*/g, ' ');
}

/** Returns the first line of an error, without its stack. */
export function firstLineOf(error: unknown): string {
  const [first = ''] = describeError(error).split('\n');
  return first;
}
