import { context, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';

const STOP_TIMEOUT_MS = 5_000;

/** The running export of traces. */
export interface Tracing {
  /** Sends what is left, as far as that is quick. */
  stop(): Promise<void>;
}

/** Registers OpenTelemetry's SDK. It is imported only when traces are wanted, because it takes time and memory to load. */
export function exportTraces(): Tracing {
  const named = resourceFromAttributes({ 'service.name': 'countersign' });
  const provider = new NodeTracerProvider({
    resource: defaultResource()
      .merge(named)
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  });
  provider.register();
  return {
    async stop() {
      const late = new Promise<void>((resolve) => {
        setTimeout(resolve, STOP_TIMEOUT_MS).unref();
      });
      // An endpoint that is down must not keep the process from ending.
      await Promise.race([provider.shutdown().catch(() => {}), late]);
      trace.disable();
      context.disable();
    },
  };
}
