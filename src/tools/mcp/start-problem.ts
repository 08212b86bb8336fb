import { SdkError, SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { describeError } from '../../agent/errors.ts';
import type { ChildTransport } from './child-transport.ts';

const MAX_REASON_LENGTH = 500;
const Answer = z.object({ text: z.string().min(1) });

/** Describes why a server did not start, with what its process printed. */
export function startProblem(error: unknown, timeout: number, child: ChildTransport | undefined): string {
  if (isTimeout(error)) return timeoutReason(timeout, child);
  // The process may have ended before the client knew why its pipe broke.
  if (isBroken(error) && child?.ending !== undefined) return child.ending;
  return shortMessage(error);
}

/** True if the connection ended during the probe for the protocol, as it does with servers that know only `initialize`. */
export function isProbeFailure(error: unknown): boolean {
  return error instanceof SdkError && error.code === SdkErrorCode.EraNegotiationFailed;
}

/** Adds the last lines that the process wrote to stderr. */
export function withLastLines(reason: string, child: ChildTransport | undefined): string {
  const lines = child?.errorLines ?? [];
  return lines.length === 0 ? `${reason}.` : `${reason}. Its last lines on stderr:\n${lines.join('\n')}`;
}

/** Returns an error's message, or the answer of a server that refused an HTTP request. */
export function shortMessage(error: unknown): string {
  return longMessage(error).slice(0, MAX_REASON_LENGTH);
}

function longMessage(error: unknown): string {
  if (!(error instanceof SdkHttpError) || error.status === undefined) return describeError(error);
  const text = Answer.safeParse(error.data).data?.text;
  return text === undefined
    ? `it answered with HTTP ${error.status}`
    : `it answered with HTTP ${error.status}: ${text}`;
}

function timeoutReason(timeout: number, child: ChildTransport | undefined): string {
  const reason = `it gave no answer within ${timeout} ms`;
  const garbage = child?.garbage;
  return garbage === undefined ? reason : `${reason}; its output is not MCP but "${garbage}"`;
}

function isTimeout(error: unknown): boolean {
  return error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout;
}

function isBroken(error: unknown): boolean {
  if (isProbeFailure(error)) return true;
  if (error instanceof SdkError) return error.code === SdkErrorCode.ConnectionClosed;
  return error instanceof Error && 'code' in error && (error.code === 'EPIPE' || error.code === 'ECONNRESET');
}
