import { readdirSync, readFileSync } from 'node:fs';
import { extname, join, relative } from 'node:path';
import { build, type Plugin } from 'esbuild';
import type { EnvelopeType } from '../../playground/slack/delivery/delivery.ts';
import { isJsonObject, type JsonObject, type JsonValue, toJson, tryParseJson } from '../../src/agent/json.ts';

/** A payload that another project keeps for its tests or its docs. */
export interface RecordedPayload {
  readonly name: string;
  readonly type: EnvelopeType;
  readonly payload: JsonObject;
}

const INTERACTIVE = [
  ...['block_actions', 'block_suggestion', 'interactive_message', 'message_action', 'shortcut'],
  ...['view_submission', 'view_closed', 'dialog_submission', 'dialog_cancellation', 'dialog_suggestion'],
  'workflow_step_edit',
];
const LITERAL = /"(?:[^"\\\n]|\\.)*"(?:\s*\+\s*"(?:[^"\\\n]|\\.)*")*/g;

/** Finds every payload in the JSON files, the code blocks and the string literals of a checkout, each once. */
export function readPayloads(folder: string): RecordedPayload[] {
  const found = new Map<string, RecordedPayload>();
  for (const file of filesIn(folder)) {
    const name = relative(folder, file);
    for (const document of documentsIn(file))
      for (const each of payloadsIn(document, name)) found.set(JSON.stringify(each.payload), each);
  }
  return [...found.values()];
}

/** Calls the functions by which bolt-js makes the payloads of its tests; what they import is replaced by nothing. */
export async function makeBoltPayloads(folder: string): Promise<RecordedPayload[]> {
  const { outputFiles } = await build({
    entryPoints: [join(folder, 'test/unit/helpers/events.ts')],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    plugins: [withoutImports],
  });
  const [code] = outputFiles;
  const module: Record<string, unknown> = await import(
    `data:text/javascript;base64,${Buffer.from(code?.contents ?? []).toString('base64')}`
  );
  return Object.entries(module).flatMap(([name, make]) => {
    if (typeof make !== 'function' || !name.startsWith('createDummy')) return [];
    const made: unknown = make({ type: 'member_joined_channel' });
    const body = typeof made === 'object' && made !== null && 'body' in made ? made.body : undefined;
    return body === undefined ? [] : [...payloadsIn(toJson(body), name)];
  });
}

const withoutImports: Plugin = {
  name: 'without-imports',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /./ }, ({ path, kind }) =>
      kind === 'entry-point' ? undefined : { path, namespace: 'nothing' },
    );
    onLoad({ filter: /./, namespace: 'nothing' }, () => ({
      contents: `
        const nothing = () => undefined;
        export default { fake: nothing, spy: nothing };
        export const createFakeLogger = nothing;
        export class WebClient {}`,
    }));
  },
};

function* filesIn(folder: string): Generator<string> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && !['.git', 'node_modules'].includes(entry.name)) yield* filesIn(path);
    else if (entry.isFile()) yield path;
  }
}

function* documentsIn(file: string): Generator<JsonValue> {
  const kind = extname(file);
  if (!['.json', '.md', '.java', '.kt', '.ts'].includes(kind)) return;
  const text = readFileSync(file, 'utf8');
  for (const part of textsIn(text, kind)) {
    const document = tryParseJson(part);
    if (document !== undefined) yield document;
  }
}

function textsIn(text: string, kind: string): string[] {
  if (kind === '.json') return [text];
  if (kind === '.md') return [...text.matchAll(/```\w*\n(.*?)```/gs)].map(([, block = '']) => block);
  return [...text.matchAll(LITERAL), ...text.matchAll(/'\{.*?\}'/g)].map(([literal]) => {
    if (literal.startsWith("'")) return literal.slice(1, -1);
    const parts = [...literal.matchAll(/"((?:[^"\\\n]|\\.)*)"/g)].map(([, part = '']) => part);
    return String(tryParseJson(`"${parts.join('')}"`) ?? '');
  });
}

function* payloadsIn(value: JsonValue, name: string): Generator<RecordedPayload> {
  if (Array.isArray(value)) for (const each of value) yield* payloadsIn(each, name);
  if (!isJsonObject(value)) return;
  const type = typeOf(value);
  if (type !== undefined) yield { name, type, payload: value };
  else for (const each of Object.values(value)) if (each !== undefined) yield* payloadsIn(each, name);
}

/** Recognizes a payload; some samples of java-slack-sdk have an event and leave the type empty. */
function typeOf({ type, event, event_id, command, trigger_id }: JsonObject): EnvelopeType | undefined {
  if (INTERACTIVE.includes(String(type))) return 'interactive';
  if (type === 'event_callback' || type === 'app_rate_limited') return 'events_api';
  if (isJsonObject(event) && event_id !== undefined) return 'events_api';
  return typeof command === 'string' && trigger_id !== undefined ? 'slash_commands' : undefined;
}
