import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonValue } from '../../agent/json.ts';
import { HttpError } from '../errors.ts';
import { selectValue } from './read-response.ts';

/** The way to learn the end of a call that its server has accepted and not yet carried out. */
export interface PollTemplate {
  /** The address to ask, with values such as `{{output.id}}` of the first answer; without it, that of the answer's Location header. */
  readonly url?: string;
  readonly everyMs: number;
  /** The time after which the outcome is unknown. */
  readonly forMs: number;
  /** The values, by their place in the answer, that mean that it has not ended; a 202 always does. */
  readonly while?: Readonly<Record<string, readonly JsonValue[]>>;
}

/** One answer of the server: its status, what it says, and where it says to look. */
export interface Answer {
  readonly status: number;
  readonly value: JsonValue;
  readonly location: string | undefined;
}

interface PollOptions {
  /** The call as people may see it. */
  readonly call: string;
  /** The address of the call. */
  readonly url: URL;
  readonly isReading: boolean;
  readonly signal: AbortSignal | undefined;
  /** Asks once; `undefined` if the server could not say now. */
  readonly ask: (url: URL) => Promise<Answer | undefined>;
}

/** Tells whether a call has not ended. */
export function isPending(poll: PollTemplate, { status, value }: Pick<Answer, 'status' | 'value'>): boolean {
  return (
    status === 202 ||
    Object.entries(poll.while ?? {}).some(([place, values]) =>
      values.some((each) => each === selectValue(value, place)),
    )
  );
}

/** Asks until the call has ended, and returns the last answer. One that does not end in time has an unknown outcome. */
export async function pollAnswer(
  poll: PollTemplate,
  first: Answer,
  options: PollOptions,
): Promise<JsonValue> {
  const { call, url, signal, ask } = options;
  const deadline = Date.now() + poll.forMs;
  const address = pollAddress(poll, first, options);
  let last = first;
  while (isPending(poll, last)) {
    if (Date.now() + poll.everyMs > deadline)
      throw new HttpError(
        'timed-out',
        `${call} was accepted, and had not ended after ${Math.round(poll.forMs / 1000)} seconds.`,
      );
    await sleep(poll.everyMs, undefined, { ...(signal && { signal }) });
    last = (await ask(address)) ?? { ...last, status: 202 };
  }
  return last.value;

  function pollAddress(
    { url: template }: PollTemplate,
    { value, location }: Answer,
    { isReading }: PollOptions,
  ): URL {
    const written = template === undefined ? location : fill(template, value, call);
    if (written === undefined && isReading) return url;
    if (written === undefined)
      throw new HttpError('bad-answer', `${call} was accepted, but did not say where its outcome will be.`);
    const found = new URL(written, url);
    // The headers of the call, with their secrets, are for its own server only.
    if (found.origin !== url.origin)
      throw new HttpError(
        'bad-redirect',
        `${call} was accepted, but its outcome would be at another server.`,
      );
    return found;
  }
}

function fill(template: string, value: JsonValue, call: string): string {
  return template.replace(/\{\{\s*output\.([\w.-]+)\s*\}\}/g, (_placeholder, place: string) => {
    const found = selectValue(value, place);
    if (typeof found !== 'string' && typeof found !== 'number')
      throw new HttpError('bad-answer', `${call} was accepted, but its answer has nothing at "${place}".`);
    return encodeURIComponent(found);
  });
}
