import { trace } from '@opentelemetry/api';
import type { Tracing } from './export-traces.ts';

/**
 * Starts OpenTelemetry's SDK if its standard environment asks for traces: an OTLP endpoint is set, and the SDK is not disabled. The
 * SDK is loaded only then. One that was registered before, with `node --import`, is used instead.
 */
export async function startTracing(environment: NodeJS.ProcessEnv): Promise<Tracing | undefined> {
  if (!wantsTraces(environment) || isRegistered()) return undefined;
  const { exportTraces } = await import('./export-traces.ts');
  return exportTraces();
}

/** Tells whether the text of messages, arguments and results may be on spans; by default it may not. */
export function mayCaptureContent({
  OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: mode = '',
}: NodeJS.ProcessEnv): boolean {
  return /^(?:true|span_only|span_and_event)$/i.test(mode);
}

function wantsTraces(environment: NodeJS.ProcessEnv): boolean {
  const { OTEL_SDK_DISABLED: disabled, OTEL_TRACES_EXPORTER: exporter = 'otlp' } = environment;
  const endpoint = environment.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? environment.OTEL_EXPORTER_OTLP_ENDPOINT;
  return (endpoint ?? '') !== '' && disabled?.toLowerCase() !== 'true' && exporter === 'otlp';
}

function isRegistered(): boolean {
  const probe = trace.getTracer('countersign').startSpan('probe');
  const { traceId } = probe.spanContext();
  probe.end();
  return !/^0*$/.test(traceId);
}
