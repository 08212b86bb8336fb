/** One line of the doctor's: what was looked at, how it is, and for what is not well, how to mend it. */
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

/** The first line of what went wrong, without a stack. */
export function sentenceOf(error: unknown): string {
  const [first = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
  return first;
}
