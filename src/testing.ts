import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { runCall } from './agent/calls/run-call.ts';
import { isJsonObject, type JsonObject, type JsonValue, toJson } from './agent/json.ts';
import type { Interrupt, ToolPart } from './agent/messages.ts';
import { effectiveInput } from './agent/schema/compile-schema.ts';
import { indexTools, type ToolSet } from './agent/tool.ts';
import { classifyInterrupt } from './engine/classify-interrupt.ts';
import { openWith, resumeWith } from './tools/gate.ts';
import { parseManifest } from './tools/manifest/parse.ts';
import { formatProblem } from './tools/manifest/problem.ts';
import { askOf, meaningOf, questionIn, YES_ANSWER } from './tools/pause.ts';
import { Secrets } from './tools/secrets.ts';
import { type OpenToolbox, openToolbox } from './tools/toolbox/open-toolbox.ts';

export interface BenchOptions {
  /** The path of the manifest (default: `MANIFEST` of the environment, else `manifest.yml`). */
  readonly manifest?: string;
  /** The values of `${NAME}` in it (default: the environment of the process). */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Tools beside those of the manifest, as with `createBot`. */
  readonly tools?: ToolSet;
}

/** The people and the channel of a call. */
export interface BenchPlace {
  readonly requesters?: readonly [string, ...string[]];
  readonly channel?: string;
}

/**
 * How far a call is. `asks`: it waits for people, and `card` is what they read; `ran`: `output` is its result; `refused`: a rule or a person
 * has said no, and `output` says why; `failed`: it has an error, or its arguments do not fit.
 */
export interface BenchCall {
  readonly state: 'asks' | 'ran' | 'refused' | 'failed';
  readonly card: string | undefined;
  readonly output: JsonValue | undefined;
  /** Approves it, as somebody who may; what the tool asks in a yes or no is answered with yes. */
  approve(by?: string): Promise<BenchCall>;
  /** Rejects it. The tool does not run. */
  reject(reason?: string): Promise<BenchCall>;
  /** Answers what the tool asks: the words of a choice, the values of a form, or what another system reports. */
  answer(answer: JsonValue, by?: string): Promise<BenchCall>;
}

/** The tools of a manifest behind their gates, without Slack, Redis and a model. */
export interface Bench {
  call(tool: string, input: JsonValue, place?: BenchPlace): Promise<BenchCall>;
  close(): Promise<void>;
}

const PERSON = 'U0TEST0001';

/** Opens the tools of a manifest for a test. All that is wrong with the manifest or a tool is one error. */
export async function openBench({
  environment = process.env,
  manifest = environment.MANIFEST ?? 'manifest.yml',
  tools = [],
}: BenchOptions = {}): Promise<Bench> {
  const parsed = parseManifest(await readFile(manifest, 'utf8'), { file: manifest, environment });
  if (!parsed.ok) throw new Error(parsed.problems.map(formatProblem).join('\n'));
  const log = { info: () => {}, warn: () => {} };
  const code = { tools: indexTools(tools), version: undefined };
  const folder = dirname(resolve(manifest));
  const toolbox = await openToolbox(parsed.manifest, { folder, secrets: new Secrets(), log, code });
  if (toolbox.problems().length > 0) {
    await toolbox.close();
    throw new Error(toolbox.problems().join('\n'));
  }
  let calls = 0;
  return {
    call: (name, input, place = {}) => {
      calls += 1;
      return startCall(toolbox, { name, input, place, ref: `call_${calls}` });
    },
    close: () => toolbox.close(),
  };
}

interface Started {
  readonly name: string;
  readonly input: JsonValue;
  readonly place: BenchPlace;
  readonly ref: string;
}

async function startCall(
  toolbox: OpenToolbox,
  { name, input: given, place, ref }: Started,
): Promise<BenchCall> {
  const entry = toolbox.find(name);
  if (entry === undefined)
    throw new Error(
      `there is no tool "${name}"; there are: ${toolbox
        .tools()
        .map((tool) => tool.name)
        .join(', ')}`,
    );
  const { tool } = entry;
  const fit = tool.inputSchema.parse(given);
  if (!fit.ok)
    return ended('failed', `the arguments do not fit the schema at "${fit.field}": ${fit.problem}`);
  const input = effectiveInput(tool.inputSchema, given);
  const { requesters = [PERSON], channel = 'C0TEST0001' } = place;
  const context = {
    requester: requesters[0],
    requesters: [...requesters],
    channel,
    threadId: `${channel}:1.1`,
  };
  const part = { toolRequest: { name, ref, input }, idempotencyKey: ref };
  const run = async (resumed?: JsonObject): Promise<BenchCall> => {
    const settings = {
      context,
      signal: new AbortController().signal,
      onProgress: undefined,
      onToolError: undefined,
      journal: undefined,
      files: undefined,
      messages: () => [],
    };
    const restarted = resumed && { resumed, replaced: undefined, nested: undefined };
    return read(await runCall(tool, part, settings, restarted));
  };
  const read = (result: ToolPart): BenchCall => {
    if (!('interrupt' in result)) return ended(STATES[result.status] ?? 'failed', result.toolResponse.output);
    const { interrupt } = result;
    return {
      state: 'asks',
      card: cardOf(toolbox, interrupt),
      output: undefined,
      approve: (by = PERSON) => approve(interrupt, by, run),
      reject: async (reason = '') => ended('refused', reason === '' ? 'Rejected' : `Rejected: ${reason}`),
      answer: (answer, by = PERSON) => give(interrupt, answer, by, run),
    };
  };
  return run();
}

const STATES: Readonly<Record<string, BenchCall['state']>> = {
  ok: 'ran',
  denied: 'refused',
  closed: 'refused',
  error: 'failed',
};

type Run = (resumed: JsonObject) => Promise<BenchCall>;

async function approve(interrupt: Interrupt, by: string, run: Run): Promise<BenchCall> {
  const pause = classifyInterrupt(interrupt);
  if (pause.kind !== 'approval') return give(interrupt, YES_ANSWER, by, run);
  const ask = askOf(interrupt);
  if (pause.own && ask !== undefined) return give(interrupt, YES_ANSWER, by, run);
  const { policy, rule, own } = pause;
  return run(openWith(interrupt, { by, own, under: { policy, rule } }));
}

async function give(interrupt: Interrupt, answer: JsonValue, by: string, run: Run): Promise<BenchCall> {
  const ask = askOf(interrupt);
  if (ask === undefined)
    throw new Error('this call waits for an approval, and asks nothing: call approve or reject');
  const meaning = meaningOf(ask, answer);
  if (meaning.reply === 'deny') return ended('refused', 'Declined');
  if (meaning.reply === 'respond') return ended('ran', meaning.output);
  return run(resumeWith(interrupt, { ask, answer, resumed: meaning.resumed }, by));
}

function ended(state: BenchCall['state'], output: JsonValue): BenchCall {
  const over = async (): Promise<BenchCall> => {
    throw new Error(`this call waits for nobody: it is "${state}"`);
  };
  return { state, card: undefined, output, approve: over, reject: over, answer: over };
}

/** Writes what people read before they decide: the question of a tool, or the call with who decides about it. */
function cardOf(toolbox: OpenToolbox, interrupt: Interrupt): string {
  const { name, input } = interrupt.toolRequest;
  const ask = askOf(interrupt);
  if (ask !== undefined) {
    const { message, choices } = questionIn(ask);
    const fields =
      ask.way.kind === 'form' && isJsonObject(ask.way.schema.properties)
        ? Object.keys(ask.way.schema.properties)
        : [];
    return [message, ...[...choices, ...fields].map((each) => `- ${each}`)].join('\n');
  }
  const pause = classifyInterrupt(interrupt);
  const presented = toolbox.find(name)?.presentation.present(toJson(input));
  const policy = pause.kind === 'approval' ? toolbox.policy(pause.policy) : undefined;
  const because = pause.kind === 'approval' ? (pause.because ?? pause.rule) : '';
  return [
    `${presented?.title ?? name}?`,
    ...(presented?.fields ?? []).map(({ label, text }) => `${label}: ${text}`),
    ...(because === '' ? [] : [`because: ${because}`]),
    ...(policy === undefined ? [] : [`approvals: ${policy.quorum} of ${policy.approvers.join(', ')}`]),
  ].join('\n');
}
