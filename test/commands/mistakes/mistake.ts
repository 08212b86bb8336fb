/** One mistake: a small change of the good manifest. `▸` in the new text marks where it must be reported. */
export interface Mistake {
  readonly kind: string;
  readonly from: string;
  readonly to: string;
  /** The words of the report. */
  readonly says: RegExp;
  readonly by: 'check' | 'doctor' | 'nobody';
  /** A further change that is no mistake by itself. */
  readonly also?: readonly [from: string, to: string];
}

/** Collects the mistakes of one file: `kind` names a kind and returns what adds its variants. */
export function collect() {
  const mistakes: Mistake[] = [];
  const kind =
    (name: string, by: Mistake['by'] = 'check') =>
    (from: string, to: string, says: RegExp, also?: Mistake['also']): void => {
      mistakes.push({ kind: name, from, to, says, by, ...(also && { also }) });
    };
  return { mistakes, kind };
}
