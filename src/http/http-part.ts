import type { IncomingHttpHeaders } from 'node:http';
import type { HttpAnswer } from './http-answer.ts';

/** A request that has reached its route. */
export interface HttpRequest {
  readonly method: string;
  readonly url: URL;
  /** The named parts of the path. */
  readonly params: Readonly<Record<string, string>>;
  readonly headers: IncomingHttpHeaders;
  /** Reads the body; throws `BodyTooLong` beyond the limit, and if the client leaves before its end. */
  readonly body: () => Promise<Buffer>;
  /** Aborted when the client is gone. */
  readonly signal: AbortSignal;
}

export type HttpMethod = 'GET' | 'POST' | 'DELETE';

/** One address and how it is answered; an answer with a stream is a `Response`. */
export interface HttpRoute {
  readonly method: HttpMethod;
  /** A pattern of the router, such as `/v1/runs/:id` or `/page/*`. */
  readonly path: string;
  /** Whether HEAD is answered as GET; the preview of a link must use nothing up. */
  readonly takesHead?: true;
  readonly answer: (request: HttpRequest) => HttpAnswer | Response | Promise<HttpAnswer | Response>;
}

/** A refusal by the router itself, for which no route is asked. */
export interface Unrouted {
  readonly status: 404 | 405 | 413 | 503;
  readonly error: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The routes of a part of the bot. */
export interface HttpRoutes {
  readonly routes: readonly HttpRoute[];
  /** Headers of every answer, also of refusals. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Builds the refusals of the router in the format of this part; one line of JSON by default. */
  readonly refuse?: (refused: Unrouted) => HttpAnswer;
}

/** A part of the bot that answers over HTTP. */
export interface HttpPart {
  /** The patterns of all its addresses. */
  readonly paths: readonly string[];
  /** The time for an answer, if it may take longer than most. */
  readonly answerMs?: number;
  /** Opens the part with its first request, so that a bot loads nothing that nobody asks for; `undefined` while it is off. */
  readonly open: () => Promise<HttpRoutes> | undefined;
}

/** A body was longer than the limit. */
export class BodyTooLong extends Error {
  override readonly name = 'BodyTooLong';
}
