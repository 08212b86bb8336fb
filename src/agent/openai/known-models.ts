/** The longest input of models by the beginning of their names, in tokens; the first that fits holds. */
const WINDOWS: readonly (readonly [prefix: RegExp, tokens: number])[] = [
  [/-chat-latest$/, 128_000],
  [/^gpt-5\.4-(?:mini|nano)/, 272_000],
  [/^gpt-(?:6|5\.[456])/, 922_000],
  [/^gpt-5/, 272_000],
  [/^gpt-4\.1/, 1_047_576],
  [/^gpt-4o/, 128_000],
  [/^o[34]/, 200_000],
  [/^gemini-(?:2\.5|3)/, 1_048_576],
  [/^deepseek-(?:flash|v4)/, 1_000_000],
  [/^claude-(?:(?:opus|sonnet|fable)-5|(?:opus|sonnet)-4-[678])/, 1_000_000],
  [/^claude/, 200_000],
  [/^mistral-(?:large|small)/, 256_000],
  [/^magistral/, 128_000],
  [/^grok-4\.(?:20|3)/, 1_000_000],
  [/^(?:qwen-plus|qwen3\.7)/, 1_000_000],
  [/^(?:qwen3-max|kimi-k2)/, 262_144],
  [/^glm-5/, 200_000],
];

const UNKNOWN_WINDOW = 128_000;
/** Above 272,000 tokens OpenAI charges twice as much for the whole request. */
const WORTHWHILE_WINDOW = 250_000;
const DEFAULT_OUTPUT = 16_000;
/** The instructions and the descriptions of tools count as well, and tokens are only estimated. */
const SHARE_OF_HISTORY = 0.8;

/** Returns a budget for the history that fits the windows of all these models; one that nobody knows is taken for a small one. */
export function defaultContextBudget(models: readonly string[], maxOutputTokens = DEFAULT_OUTPUT): number {
  const window = Math.min(WORTHWHILE_WINDOW, ...models.map(inputWindow));
  return Math.max(1_000, Math.floor((window - maxOutputTokens) * SHARE_OF_HISTORY));
}

function inputWindow(model: string): number {
  // Gateways put the provider before the name.
  const name = model.slice(model.lastIndexOf('/') + 1);
  return WINDOWS.find(([prefix]) => prefix.test(name))?.[1] ?? UNKNOWN_WINDOW;
}

/** Tells whether a model may reason; those of OpenAI that never do refuse to be asked for their reasoning. */
export function reasons(model: string): boolean {
  return !/^(?:gpt-4|gpt-3\.5|chatgpt-)/.test(model.slice(model.lastIndexOf('/') + 1));
}
