import { inspect } from 'node:util';
import { afterEffect, isAfterEffect, isNotDone, notDone } from '../../agent/errors.ts';
import { isDeeperThan, isJsonObject, type JsonObject, type JsonValue, toJson } from '../../agent/json.ts';
import { toPauseMetadata } from '../../agent/pause.ts';
import type { Preview, PreviewHelpers, Tool, ToolHelpers } from '../../agent/tool.ts';
import type { ToolFile } from '../../agent/util/tool-files.ts';
import { requirePreview } from '../presentation/linked-call.ts';
import type { Secrets } from '../secrets.ts';
import type { AroundRun } from './toolbox.ts';

export type Action = Extract<Tool, { kind: 'tool' }>;

const MAX_OUTPUT_DEPTH = 200;

export interface Protection {
  readonly secrets: Secrets;
  readonly maxOutput: number;
  /** The places that images of its results go to. */
  readonly images?: 'both' | 'model' | 'thread';
  /** Marks output that comes from outside, so that the model takes it for data and not for instructions. */
  readonly untrusted: boolean;
  /** Watches each run; it sees what people and the model see. */
  readonly around?: AroundRun | undefined;
}

/** Wraps a tool: each run is watched, secrets are redacted, output is limited in size and depth, and output from outside is marked. */
export function protectTool(tool: Action, protection: Protection): Action {
  const { secrets, maxOutput, untrusted, images = 'both' } = protection;
  const { around = async (_name, _input, helpers, run) => run(helpers) } = protection;
  return {
    ...tool,
    outputSchema: untrusted ? undefined : tool.outputSchema,
    ...(tool.preview !== undefined && {
      preview: (input, helpers) => previewRedacted(tool, secrets, input, helpers),
    }),
    run: (input, helpers) =>
      around(tool.name, input, helpers, async (given) => {
        try {
          const shown = redactedHelpers(tool, withImagesIn(images, given), secrets);
          const output = redactOutput(await tool.run(input, shown), secrets);
          const length = (JSON.stringify(output) ?? '').length;
          if (length > maxOutput) {
            throw afterEffect(
              new RangeError(
                `The tool ran, but its output of ${length} characters is over the limit of ${maxOutput}; ask for less of it`,
              ),
            );
          }
          return untrusted ? { untrusted_output: output } : output;
        } catch (error) {
          throw redactError(error, secrets);
        }
      }),
  };
}

function redactOutput(output: unknown, secrets: Secrets): unknown {
  // Code that walks a deeper value would overflow the stack, and the call would look as if it had not run.
  if (isDeeperThan(MAX_OUTPUT_DEPTH, output)) {
    throw afterEffect(
      new RangeError(
        `The tool ran, but its output is nested more than ${MAX_OUTPUT_DEPTH} levels deep; ask for less of it`,
      ),
    );
  }
  const text = JSON.stringify(output);
  const isClean = text === undefined || secrets.redact(text) === text;
  return isClean ? output : redactJson(JSON.parse(text), secrets);
}

async function previewRedacted(
  tool: Action,
  secrets: Secrets,
  input: unknown,
  helpers: PreviewHelpers,
): Promise<Preview> {
  try {
    const { before, after } = requirePreview(await tool.preview?.(input, helpers));
    return { before: secrets.redact(before), after: secrets.redact(after) };
  } catch (error) {
    throw redactError(error, secrets);
  }
}

/** Leaves the images of a tool out of what the model sees, or out of the thread. */
function withImagesIn(images: 'both' | 'model' | 'thread', helpers: ToolHelpers): ToolHelpers {
  if (images === 'both') return helpers;
  if (images === 'thread') return { ...helpers, attach: () => false };
  return {
    ...helpers,
    file: (given) => !(given.type ?? '').startsWith('image/') && helpers.file(given),
  };
}

/** Redacts the texts that a tool hands to people or the model through its helpers. */
function redactedHelpers(tool: Action, helpers: ToolHelpers, secrets: Secrets): ToolHelpers {
  const { interrupt, deny, progress, file } = helpers;
  return {
    ...helpers,
    interrupt: (asks) => interrupt(redactFields(toPauseMetadata(asks, tool) ?? {}, secrets)),
    deny: (reason) => deny(secrets.redact(reason)),
    progress: (message, fraction) => progress(secrets.redact(message), fraction),
    file: (given) => {
      const clean = redactFile(given, secrets);
      return clean !== undefined && file(clean);
    },
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

/** Drops the stack and the causes of an error that holds a secret, since all of it goes to the log. */
function redactError(error: unknown, secrets: Secrets): unknown {
  const whole = typeof error === 'string' ? error : inspect(error, { depth: 10 });
  if (secrets.redact(whole) === whole) return error;
  const redacted = new Error(secrets.redact(error instanceof Error ? error.message : whole));
  if (isAfterEffect(error)) return afterEffect(redacted);
  return isNotDone(error) ? notDone(redacted) : redacted;
}

/**
 * Copies a file that a tool sends without secrets. Text is redacted as other output is; `undefined` for any other file in whose bytes a
 * secret stands, because nobody can take it out. What a file packs or encrypts is not searched.
 */
export function redactFile({ name, data, type }: ToolFile, secrets: Secrets): ToolFile | undefined {
  const label = { name: secrets.redact(name), ...(type !== undefined && { type: secrets.redact(type) }) };
  const bytes = Buffer.from(data);
  const text = decode(bytes);
  if (text === undefined) {
    const seen = bytes.toString('latin1');
    return secrets.redact(seen) === seen ? { ...label, data: bytes } : undefined;
  }
  const redacted = secrets.redact(text.content);
  return { ...label, data: redacted === text.content ? bytes : text.encode(redacted) };
}

interface Text {
  readonly content: string;
  readonly encode: (text: string) => Buffer;
}

/** Decodes UTF-8, or UTF-16 with its mark; `undefined` if it is no text. */
function decode(bytes: Buffer): Text | undefined {
  const isUtf16 = bytes[0] === 0xff && bytes[1] === 0xfe;
  try {
    const decoder = new TextDecoder(isUtf16 ? 'utf-16le' : 'utf-8', { fatal: true, ignoreBOM: true });
    return {
      content: decoder.decode(bytes),
      encode: (text) => Buffer.from(text, isUtf16 ? 'utf16le' : 'utf8'),
    };
  } catch {
    return undefined;
  }
}
