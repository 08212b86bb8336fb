import { isOutcomeUnknown, outcomeUnknown } from '../agent/errors/outcome-unknown.ts';
import type { Tool, ToolHelpers } from '../agent/tool.ts';
import type { Secrets } from './secrets.ts';

type Action = Extract<Tool, { kind: 'tool' }>;

/** Of a tool's output, in characters, where the manifest sets no other limit. */
export const DEFAULT_MAX_OUTPUT = 100_000;

export interface Protection {
  readonly secrets: Secrets;
  readonly maxOutput: number;
  /** Marks what comes from outside, so that the model takes it for data and not for instructions. */
  readonly untrusted: boolean;
}

/** Stands between a tool and the model: no secret passes, no flood passes, and what comes from outside is marked. */
export function protect(tool: Action, { secrets, maxOutput, untrusted }: Protection): Action {
  return {
    ...tool,
    outputSchema: untrusted ? undefined : tool.outputSchema,
    async run(input, helpers) {
      const output = await runRedacted(tool, secrets, input, helpers);
      const length = (JSON.stringify(output) ?? '').length;
      if (length > maxOutput) {
        throw new RangeError(
          `The tool ran, but its output of ${length} characters is over the limit of ${maxOutput}; ask for less of it`,
        );
      }
      return untrusted ? { untrusted_output: output } : output;
    },
  };
}

/** What a tool reports of its progress is shown on cards, so it passes here as well. */
function quietHelpers(helpers: ToolHelpers, secrets: Secrets): ToolHelpers {
  return { ...helpers, progress: (message, fraction) => helpers.progress(secrets.redact(message), fraction) };
}

async function runRedacted(
  tool: Action,
  secrets: Secrets,
  ...call: Parameters<Action['run']>
): Promise<unknown> {
  try {
    const [input, helpers] = call;
    const output = await tool.run(input, quietHelpers(helpers, secrets));
    const text = JSON.stringify(output);
    if (text === undefined) return output;
    const redacted = secrets.redact(text);
    return redacted === text ? output : JSON.parse(redacted);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const redacted = secrets.redact(error.message);
    if (redacted === error.message) throw error;
    throw isOutcomeUnknown(error) ? outcomeUnknown(new Error(redacted)) : new Error(redacted);
  }
}
