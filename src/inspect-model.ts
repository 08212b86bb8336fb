import { ModelError } from './agent/errors.ts';
import type { ModelConfig } from './agent/model.ts';
import { type ListedModel, listModels } from './agent/openai/client.ts';
import { type OpenAIModelOptions, openAIModel } from './agent/openai/openai-model.ts';
import { type ModelSettings, modelOptions } from './open-model.ts';
import type { ModelDeclaration } from './tools/manifest/manifest.ts';

export interface ModelFinding {
  readonly status: 'ok' | 'warning' | 'failed';
  readonly message: string;
}

/** Models that are current and take tools, the cheapest first. */
const PROPOSED = ['gpt-6-luna', 'gpt-6.1-terra', 'gpt-6.1-sol', 'gpt-6-astra'];
const PATIENCE_MS = 30_000;

/** The keys of the manifest by the parameters that they set. */
const KEYS: Readonly<Record<keyof ModelConfig, string>> = {
  temperature: 'agent.model.temperature',
  topP: 'top_p',
  maxOutputTokens: 'agent.model.max_output_tokens',
  reasoningEffort: 'agent.model.reasoning_effort',
  verbosity: 'agent.model.verbosity',
  parallelToolCalls: 'agent.model.parallel_tool_calls',
  serviceTier: 'agent.model.service_tier',
};

/** Asks every model of a manifest for a call of a harmless tool, with the parameters that it will be sent, and looks it up in its provider's list. */
export async function inspectModels(
  settings: ModelSettings,
  declared: ModelDeclaration,
): Promise<ModelFinding[]> {
  const options = { ...modelOptions(settings, declared), maxRetries: 0, silenceMs: PATIENCE_MS };
  const names = [options.model, ...declared.fallbackModels];
  const listed = await listModels(options);
  const findings = names.map(async (model) => [
    ...(await probe({ ...options, model })),
    ...findListed(model, listed),
  ]);
  return (await Promise.all(findings)).flat();
}

/** Looks for what is wrong with the models of a manifest at the start of a bot. Only if parameters are set is a model asked. */
export async function inspectAtStart(
  settings: ModelSettings,
  declared: ModelDeclaration,
): Promise<ModelFinding[]> {
  const hasParameters = Object.values(declared.config).some((value) => value !== undefined);
  if (hasParameters) return (await inspectModels(settings, declared)).filter(({ status }) => status !== 'ok');
  const options = { ...modelOptions(settings, declared), silenceMs: PATIENCE_MS };
  const listed = await listModels(options);
  return [options.model, ...declared.fallbackModels].flatMap((model) => findListed(model, listed));
}

async function probe(options: OpenAIModelOptions): Promise<ModelFinding[]> {
  const { model: name } = options;
  const refused: ModelFinding[] = [];
  const model = openAIModel({
    ...options,
    onRefusedField: ({ field, reason }) =>
      refused.push({ status: 'warning', message: `${name} refuses ${KEYS[field]}: ${reason}; remove it` }),
  });
  try {
    const { finish, calls } = await model.reply({
      system: undefined,
      history: [{ role: 'user', text: 'Call the tool "ping" once, with the word ok.' }],
      tools: [PING],
      signal: undefined,
      onText: undefined,
    });
    return [describeAnswer(name, finish, calls.length > 0), ...refused];
  } catch (error) {
    const [reason = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
    return [{ status: 'failed', message: `${reason}${adviceFor(error)}` }, ...refused];
  }
}

/** A tool that does nothing and is never run. */
const PING = {
  name: 'ping',
  description: 'Checks that tools can be called. It does nothing.',
  inputSchema: {
    type: 'object',
    properties: { word: { type: 'string' } },
    required: ['word'],
    additionalProperties: false,
  },
} as const;

function describeAnswer(name: string, finish: string, hasCalled: boolean): ModelFinding {
  if (finish !== 'stop')
    return { status: 'failed', message: `${name} gave no whole answer (${finish}); check its parameters` };
  if (hasCalled) return { status: 'ok', message: `${name} answers and calls tools` };
  return {
    status: 'warning',
    message: `${name} answers, but did not call the tool that it was asked to call`,
  };
}

function findListed(name: string, listed: readonly ListedModel[] | undefined): ModelFinding[] {
  if (listed === undefined) return [];
  const others = listed.filter(({ id, endsOn }) => id !== name && endsOn === undefined).map(({ id }) => id);
  const proposal = PROPOSED.find((model) => others.includes(model)) ?? others[0];
  const advice = proposal === undefined ? '' : `; use another one, such as ${proposal}`;
  const found = listed.find(({ id }) => id === name);
  if (found === undefined)
    return [{ status: 'warning', message: `${name} is not in the list of its provider${advice}` }];
  if (found.endsOn === undefined) return [];
  return [{ status: 'warning', message: `${name} ends on ${found.endsOn}${advice}` }];
}

/** The reasons of a failed connection by the codes of Node. */
const CONNECTION_ADVICE: readonly (readonly [code: RegExp, advice: string])[] = [
  [
    /^(?:SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_VERIFY_LEAF_SIGNATURE|UNABLE_TO_GET_ISSUER_CERT(?:_LOCALLY)?)$/,
    '; its certificate is from an unknown CA: set NODE_EXTRA_CA_CERTS to the file of the CA',
  ],
  [
    /^ERR_TLS_CERT_ALTNAME_INVALID$/,
    '; its certificate is for another host name: check the host in OPENAI_BASE_URL',
  ],
  [/^CERT_HAS_EXPIRED$/, '; its certificate has expired'],
  [/^ENOTFOUND$/, '; its host name is not known: check the host in OPENAI_BASE_URL'],
];

/** Returns the codes of an error and of what caused it, the outermost first. */
function codesOf(error: unknown): string[] {
  if (!(error instanceof Error)) return [];
  return [
    ...('code' in error && typeof error.code === 'string' ? [error.code] : []),
    ...codesOf(error.cause),
  ];
}

function adviceFor(error: unknown): string {
  if (!(error instanceof ModelError)) return '';
  const codes = codesOf(error);
  const connection = CONNECTION_ADVICE.find(([code]) => codes.some((found) => code.test(found)));
  if (connection !== undefined) return connection[1];
  switch (error.code) {
    case 'unauthorized':
      return '; check OPENAI_API_KEY';
    case 'unknown-model':
      return '; check the name of the model: agent.model in the manifest, else OPENAI_MODEL';
    case 'refused-request':
      return error.field === undefined
        ? '; check agent.model (name and api) in the manifest, and OPENAI_BASE_URL'
        : `; check "${error.field}"`;
    case 'no-quota':
      return '; check the credit of the account';
    case 'rate-limited':
      return '; wait, or check the limits of the key';
    default:
      return '; check OPENAI_BASE_URL and the network';
  }
}
