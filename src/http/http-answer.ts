/** The answer to an HTTP request. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Builds an answer of one line of JSON. */
export function jsonAnswer(
  status: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): HttpAnswer {
  return {
    status,
    headers: { 'content-type': 'application/json', ...headers },
    body: `${JSON.stringify(body)}\n`,
  };
}

/** Builds a refusal with its reason in one sentence. */
export function refusal(
  status: number,
  error: string,
  headers?: Readonly<Record<string, string>>,
): HttpAnswer {
  return jsonAnswer(status, { ok: false, error }, headers);
}
