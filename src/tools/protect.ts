import { inspect } from 'node:util';
import { isOutcomeUnknown, outcomeUnknown } from '../agent/errors.ts';
import { isDeeperThan, isJsonObject, type JsonObject, type JsonValue, toJson } from '../agent/json.ts';
import type { Tool, ToolHelpers } from '../agent/tool.ts';
import type { Secrets } from './secrets.ts';

type Action = Extract<Tool, { kind: 'tool' }>;

/** Of a tool's output, in characters, where the manifest sets no other limit. */
export const DEFAULT_MAX_OUTPUT = 100_000;

const DEEPEST_OUTPUT = 200;

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

async function runRedacted(
  tool: Action,
  secrets: Secrets,
  input: unknown,
  helpers: ToolHelpers,
): Promise<unknown> {
  try {
    const output = await tool.run(input, redactedHelpers(helpers, secrets));
    // What walks it later would overflow, and the call would look as if it had not taken place.
    if (isDeeperThan(DEEPEST_OUTPUT, output)) {
      throw new RangeError(
        `The tool ran, but its output is nested more than ${DEEPEST_OUTPUT} levels deep; ask for less of it`,
      );
    }
    const text = JSON.stringify(output);
    const isClean = text === undefined || secrets.redact(text) === text;
    return isClean ? output : redactJson(JSON.parse(text), secrets);
  } catch (error) {
    throw redactError(error, secrets);
  }
}

/** A tool speaks to people by these as well: on cards, in the status line, and to the model. */
function redactedHelpers(helpers: ToolHelpers, secrets: Secrets): ToolHelpers {
  const { interrupt, deny, progress } = helpers;
  return {
    ...helpers,
    interrupt: (metadata) => interrupt(metadata === undefined ? undefined : redactFields(metadata, secrets)),
    deny: (reason) => deny(secrets.redact(reason)),
    progress: (message, fraction) => progress(secrets.redact(message), fraction),
  };
}

/** Copies an object without secrets, wherever they stand in it. */
export function redactFields(fields: JsonObject, secrets: Secrets): JsonObject {
  const redacted = redactJson(toJson(fields), secrets);
  return isJsonObject(redacted) ? redacted : {};
}

function redactJson(value: JsonValue, secrets: Secrets): JsonValue {
  if (Array.isArray(value)) return value.map((item: JsonValue) => redactJson(item, secrets));
  if (isJsonObject(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([key, entry]) => [secrets.redact(key), redactJson(entry, secrets)]),
    );
  }
  const text = String(value);
  const redacted = secrets.redact(text);
  return redacted === text ? value : redacted;
}

/** An error goes to the log with its stack and its causes, so that a secret in any of them costs it all but its message. */
function redactError(error: unknown, secrets: Secrets): unknown {
  const whole = typeof error === 'string' ? error : inspect(error, { depth: 10 });
  if (secrets.redact(whole) === whole) return error;
  const redacted = new Error(secrets.redact(error instanceof Error ? error.message : whole));
  return isOutcomeUnknown(error) ? outcomeUnknown(redacted) : redacted;
}
