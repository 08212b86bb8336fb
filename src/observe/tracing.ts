import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import {
  type Attributes,
  type Context,
  context,
  createContextKey,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api';

/** The context of the running work. OpenTelemetry's own needs an SDK, and logs carry trace ids without one. */
const running = new AsyncLocalStorage<Context>();

const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

export interface SpanOptions {
  /** The W3C `traceparent` to continue, from another process or from before a restart; otherwise the running work's. */
  readonly parent?: string | undefined;
  readonly kind?: 'internal' | 'consumer' | 'producer' | 'client';
  readonly attributes?: Attributes;
}

const CONVERSATION = 'gen_ai.conversation.id';
const conversationKey = createContextKey('countersign conversation');

const KINDS = {
  internal: SpanKind.INTERNAL,
  consumer: SpanKind.CONSUMER,
  producer: SpanKind.PRODUCER,
  client: SpanKind.CLIENT,
} as const;

function tracer(): Tracer {
  return trace.getTracer('countersign');
}

/** Runs work in a span; an error that it throws is on the span. Without an SDK only the trace id is handed on. */
export async function inSpan<Result>(
  name: string,
  { parent, kind = 'internal', attributes = {} }: SpanOptions,
  work: (span: Span) => Promise<Result>,
): Promise<Result> {
  const around = contextOf(parent);
  // What happens within a conversation's work belongs to it.
  const conversation = attributes[CONVERSATION] ?? around.getValue(conversationKey);
  const own = typeof conversation === 'string' ? { ...attributes, [CONVERSATION]: conversation } : attributes;
  const span = tracer().startSpan(name, { kind: KINDS[kind], attributes: own }, around);
  const current = trace
    .setSpan(around, isKnown(span.spanContext()) ? span : trace.wrapSpanContext(newRoot()))
    .setValue(conversationKey, conversation);
  try {
    return await running.run(current, () => context.with(current, () => work(span)));
  } catch (error) {
    failSpan(span, error);
    throw error;
  } finally {
    span.end();
  }
}

/** Marks a span as failed by the kind of the error; its message may hold content, which traces must not. */
export function failSpan(span: Span, error: unknown): void {
  const type = error instanceof Error ? error.name : typeof error;
  span.setAttribute('error.type', type);
  span.setStatus({ code: SpanStatusCode.ERROR });
}

/** Records a span that began in the past, possibly in another process. */
export function pastSpan(
  name: string,
  startedAt: number,
  { parent, kind = 'internal', attributes = {} }: SpanOptions,
): void {
  const around = contextOf(parent);
  tracer()
    .startSpan(name, { kind: KINDS[kind], attributes, startTime: new Date(startedAt) }, around)
    .end();
}

/** Returns the `traceparent` of the running work, to be stored with what it leaves behind. */
export function currentTrace(): string | undefined {
  const span = trace.getSpanContext(running.getStore() ?? ROOT_CONTEXT);
  if (span === undefined) return undefined;
  const flags = span.traceFlags.toString(16).padStart(2, '0');
  return `00-${span.traceId}-${span.spanId}-${flags}`;
}

/** Returns the id of the trace that a `traceparent` names, or that of the running work. */
export function traceIdOf(traceparent: string | undefined = currentTrace()): string | undefined {
  return TRACEPARENT.exec(traceparent ?? '')?.[1];
}

function contextOf(parent: string | undefined): Context {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(parent ?? '') ?? [];
  if (traceId === undefined || spanId === undefined) return running.getStore() ?? context.active();
  const remote = { traceId, spanId, traceFlags: Number.parseInt(flags ?? '0', 16), isRemote: true };
  return trace.setSpanContext(ROOT_CONTEXT, remote);
}

function isKnown({ traceId }: SpanContext): boolean {
  return !/^0*$/.test(traceId);
}

/** Begins a trace that nobody records: it only ties the lines of the log together. */
function newRoot(): SpanContext {
  const randomHex = () => randomUUID().replaceAll('-', '');
  return { traceId: randomHex(), spanId: randomHex().slice(0, 16), traceFlags: TraceFlags.NONE };
}
