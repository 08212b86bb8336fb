import type { Problem } from '../block-kit/check-blocks.ts';
import type { JsonObject } from '../state/types.ts';

/** A call that Slack answers with `ok: false`, the error code and details. */
export class Refusal extends Error {
  readonly code: string;
  readonly details: JsonObject;

  constructor(code: string, details: JsonObject = {}) {
    super(`Slack refuses with ${code}`);
    this.name = 'Refusal';
    this.code = code;
    this.details = details;
  }

  get answer(): JsonObject {
    return { ok: false, error: this.code, ...this.details };
  }
}

/** Builds a refusal that lists the problems in Slack's wording. */
export function refusalOf(
  code: 'invalid_blocks' | 'invalid_arguments',
  problems: readonly Problem[],
): Refusal {
  const errors = problems.map(({ pointer, reason }) => `${reason} [json-pointer:${pointer}]`);
  return new Refusal(code, {
    ...(code === 'invalid_blocks' && { errors }),
    response_metadata: { messages: errors.map((error) => `[ERROR] ${error}`) },
  });
}
