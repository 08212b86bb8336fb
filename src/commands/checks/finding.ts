import { describeError } from '../../agent/util/describe-error.ts';

/** One line of the doctor: the check, its status, and for a failure how to fix it. */
export interface Finding {
  readonly check: string;
  readonly status: 'ok' | 'warning' | 'failed' | 'not-checked';
  readonly message: string;
}

export function ok(check: string, message: string): Finding {
  return { check, status: 'ok', message };
}

export function failed(check: string, message: string): Finding {
  return { check, status: 'failed', message };
}

export function warning(check: string, message: string): Finding {
  return { check, status: 'warning', message };
}

export function notChecked(check: string, message: string): Finding {
  return { check, status: 'not-checked', message };
}

/** Returns the first line of an error, without its stack. */
export function firstLineOf(error: unknown): string {
  const [first = ''] = describeError(error).split('\n');
  return first;
}
