import type { ToolHelpers } from '../agent/tool.ts';
import type { AroundRun } from '../tools/toolbox/toolbox.ts';
import type { Metrics } from './metrics.ts';
import { failSpan, inSpan } from './tracing.ts';

export interface ToolWatch {
  readonly metrics: Metrics;
  /** Adds arguments and results to the spans; the text comes without secrets. */
  readonly content: ((text: string) => string) | undefined;
}

/** Runs every tool in a span with the attributes of OpenTelemetry's GenAI conventions, and counts how the run ended. */
export function observeTools({ metrics, content }: ToolWatch): AroundRun {
  return (name, input, helpers, run) => {
    const attributes = {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': name,
      'gen_ai.tool.type': 'function',
      'gen_ai.tool.call.id': helpers.callId,
      'countersign.idempotency_key': helpers.idempotencyKey,
    };
    return inSpan(`execute_tool ${name}`, { attributes }, async (span) => {
      let outcome = 'failed';
      const watched: ToolHelpers = {
        ...helpers,
        interrupt(metadata) {
          outcome = 'paused';
          return helpers.interrupt(metadata);
        },
        deny(reason) {
          outcome = 'denied';
          return helpers.deny(reason);
        },
      };
      if (content !== undefined)
        span.setAttribute('gen_ai.tool.call.arguments', content(JSON.stringify(input) ?? ''));
      try {
        const output = await run(watched);
        outcome = 'succeeded';
        if (content !== undefined)
          span.setAttribute('gen_ai.tool.call.result', content(JSON.stringify(output) ?? ''));
        return output;
      } catch (error) {
        if (outcome === 'failed') failSpan(span, error);
        throw error;
      } finally {
        span.setAttribute('countersign.tool.outcome', outcome);
        metrics.count('countersign_tool_calls_total', { tool: name, outcome });
      }
    });
  };
}
