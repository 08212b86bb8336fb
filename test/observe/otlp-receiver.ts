import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { z } from 'zod';

const Value = z.union([
  z.object({ stringValue: z.string() }),
  z.object({ intValue: z.union([z.number(), z.string()]) }),
  z.object({ doubleValue: z.number() }),
  z.object({ boolValue: z.boolean() }),
  z.object({ arrayValue: z.object({ values: z.array(z.unknown()) }) }),
]);
const Attributes = z.array(z.object({ key: z.string(), value: Value }));
const Nanoseconds = z.string().regex(/^\d{1,20}$/);
const Span = z.object({
  traceId: z.string().regex(/^[0-9a-f]{32}$/),
  spanId: z.string().regex(/^[0-9a-f]{16}$/),
  parentSpanId: z
    .string()
    .regex(/^[0-9a-f]{16}$/)
    .optional(),
  name: z.string().min(1),
  kind: z.number().int().min(1).max(5),
  startTimeUnixNano: Nanoseconds,
  endTimeUnixNano: Nanoseconds,
  attributes: Attributes,
  status: z.object({ code: z.number() }),
});
const Export = z.object({
  resourceSpans: z.array(
    z.object({
      resource: z.object({ attributes: Attributes }),
      scopeSpans: z.array(z.object({ spans: z.array(Span) })),
    }),
  ),
});

export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly name: string;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly service: unknown;
}

/** A collector that takes OTLP over HTTP as JSON, by the published schema and without any of OpenTelemetry's code. */
export async function startReceiver() {
  const spans: ReceivedSpan[] = [];
  const problems: string[] = [];
  const server = createServer(async (request, response) => {
    const parsed = Export.safeParse(JSON.parse(await text(request)));
    if (request.url !== '/v1/traces' || !parsed.success) problems.push(`${request.url} ${parsed.error}`);
    for (const { resource, scopeSpans } of parsed.data?.resourceSpans ?? []) {
      const service = plain(resource.attributes)['service.name'];
      for (const span of scopeSpans.flatMap((scope) => scope.spans)) spans.push(toSpan(span, service));
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return { spans, problems, url: `http://127.0.0.1:${port}`, stop: () => void server.close() };
}

function toSpan(span: z.infer<typeof Span>, service: unknown): ReceivedSpan {
  const { traceId, spanId, parentSpanId, name, attributes } = span;
  const milliseconds = (nanoseconds: string) => Number(BigInt(nanoseconds) / 1_000_000n);
  return {
    ...{ traceId, spanId, parentSpanId, name, service },
    startedAt: milliseconds(span.startTimeUnixNano),
    endedAt: milliseconds(span.endTimeUnixNano),
    attributes: plain(attributes),
  };
}

function plain(attributes: z.infer<typeof Attributes>): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}

/** Draws spans as a tree, children in the order of time; equal siblings are drawn once. */
export function drawTree(spans: readonly ReceivedSpan[]): string[] {
  const known = new Set(spans.map(({ spanId }) => spanId));
  const below = (parent: string | undefined, depth: number): string[] => {
    const children = spans
      .filter(({ parentSpanId = '' }) =>
        parent === undefined ? !known.has(parentSpanId) : parentSpanId === parent,
      )
      .sort((a, b) => a.startedAt - b.startedAt);
    return children.flatMap(({ spanId, name }) => [
      `${'  '.repeat(depth)}${name}`,
      ...below(spanId, depth + 1),
    ]);
  };
  const lines = below(undefined, 0);
  return lines.filter((line, index) => line !== lines[index - 1]);
}
