/** Every refusal of the door: its status in HTTP and its title. */
const PROBLEMS = {
  malformed: { status: 400, title: 'The request is malformed' },
  unauthorized: { status: 401, title: 'No caller could be recognized' },
  replayed: { status: 401, title: 'This token was used for another request' },
  'tool-not-allowed': { status: 403, title: 'This caller may not use this tool' },
  'policy-not-allowed': { status: 403, title: 'This caller may not ask under this policy' },
  'owner-inactive': { status: 403, title: 'The owner of this caller may not ask' },
  'person-unproven': { status: 403, title: 'This caller may not ask for this person' },
  frozen: { status: 403, title: 'This caller is frozen' },
  'not-found': { status: 404, title: 'There is no such request' },
  'no-such-path': { status: 404, title: 'There is no such address' },
  'wrong-method': { status: 405, title: 'This method is not supported here' },
  'too-late': { status: 409, title: 'It is too late for that' },
  'not-approved': { status: 409, title: 'It is not approved' },
  gone: { status: 410, title: 'The record of this request is no longer kept' },
  'too-long': { status: 413, title: 'The body is longer than 1 MB' },
  'wrong-type': { status: 415, title: 'The body must be JSON' },
  unfit: { status: 422, title: 'The request does not fit its schema' },
  'key-reused': { status: 422, title: 'This idempotency key was used for another request' },
  'too-many-pending': { status: 429, title: 'Too many requests wait for people' },
  'too-many': { status: 429, title: 'Too many requests' },
  unavailable: { status: 503, title: 'It cannot be checked now' },
} as const;

export type ProblemCode = keyof typeof PROBLEMS;

/** Groups problems by their status, each status with the titles of its problems. */
export function problemsByStatus(codes: readonly ProblemCode[]): ReadonlyMap<number, string> {
  const titles = new Map<number, string>();
  for (const code of codes) {
    const { status, title } = PROBLEMS[code];
    const before = titles.get(status);
    titles.set(status, before === undefined ? title : `${before}; ${title}`);
  }
  return titles;
}

/** A refusal: its code, one sentence for the person who reads the caller's log, and when to try again. */
export interface Problem {
  readonly code: ProblemCode;
  readonly detail: string;
  readonly retryAfterS?: number;
  /** The methods of the address, for `wrong-method`. */
  readonly allow?: string;
}

/** The result of a step of the door. */
export type Answered<Value> = { readonly ok: true; readonly value: Value } | Refused;
export interface Refused {
  readonly ok: false;
  readonly problem: Problem;
}

export function accept<Value>(value: Value): Answered<Value> {
  return { ok: true, value };
}

export function refuse(
  code: ProblemCode,
  detail: string,
  more: Omit<Problem, 'code' | 'detail'> = {},
): Refused {
  return { ok: false, problem: { code, detail, ...more } };
}

/** Returns the status of a problem, and its body by RFC 9457. */
export function describeProblem({ code, detail }: Problem): {
  readonly status: number;
  readonly body: object;
} {
  const { status, title } = PROBLEMS[code];
  return { status, body: { type: `urn:countersign:problem:${code}`, title, status, detail, code } };
}
