import { Writable } from 'node:stream';
import { type Logger, pino } from 'pino';
import { traceIdOf } from '../../src/observe/tracing.ts';

export interface LogLine {
  readonly level: number;
  readonly msg: string;
  readonly [field: string]: unknown;
}

/** A logger as production has it, whose lines a test can read. */
export function recordingLogger(): { readonly logger: Logger; readonly lines: LogLine[] } {
  const lines: LogLine[] = [];
  const stream = new Writable({
    write(chunk, _encoding, done) {
      lines.push(JSON.parse(String(chunk)));
      done();
    },
  });
  const logger = pino({ level: 'info', mixin: () => ({ traceId: traceIdOf() }) }, stream);
  return { logger, lines };
}

/** The steps of requests in the log, in order. */
export function stepsIn(lines: readonly LogLine[]): string[] {
  return lines.map(({ msg }) => msg).filter((msg) => msg.startsWith('request '));
}
