/** A refused request: the HTTP status and OpenAI's `error` object. */
export interface RequestProblem {
  status: 400 | 401 | 404 | 405;
  message: string;
  type: 'invalid_request_error';
  param: string | null;
  code: string | null;
}

/** A refusal of something in the request body; `param` and `code` are null where OpenAI leaves them null. */
export function badRequest(
  message: string,
  param: string | null = null,
  code: string | null = null,
): RequestProblem {
  return { status: 400, message, type: 'invalid_request_error', param, code };
}
