/** Mistakes of authors, each with the first line that the compiler says about it. */
export const MISTAKES: readonly (readonly [code: string, message: string])[] = [
  [`defineTool({ name: 'pay', description: 'Pays.' });`, 'Expected 2 arguments, but got 1.'],
  [
    `defineTool({ name: 'pay' }, () => null);`,
    `Property 'description' is missing in type '{ name: "pay"; }' but required in type 'ActionConfig<"pay", NoInput, ZodUnknown, JsonSchema>'.`,
  ],
  [
    `defineTool({ description: 'Pays.' }, () => null);`,
    `Property 'name' is missing in type '{ description: string; }' but required in type 'ActionConfig<string, NoInput, ZodUnknown, JsonSchema>'.`,
  ],
  [
    `defineTool({ name: 'pay', description: 'Pays.', parameters: z.object({}) }, () => null);`,
    `Object literal may only specify known properties, and 'parameters' does not exist in type 'ActionConfig<"pay", NoInput, ZodUnknown, JsonSchema>'.`,
  ],
  [
    `defineTool({ name: 'pay', description: 'Pays.', inputSchema: 'amount' }, () => null);`,
    `Type 'string' is not assignable to type 'Schema'.`,
  ],
  [
    `defineTool({ name: 'pay', description: 'Pays.', inputSchema: z.object({ amount: z.number() }) }, (input) => input.amuont);`,
    `Property 'amuont' does not exist on type '{ amount: number; }'. Did you mean 'amount'?`,
  ],
  [
    `defineTool({ name: 'pay', description: 'Pays.', inputSchema: z.object({ amount: z.number() }) }, (input: { amount: string }) => input);`,
    `Argument of type '(input: { amount: string; }) => { amount: string; }' is not assignable to parameter of type '(input: { amount: number; }, helpers: ToolHelpers<ToolContext, JsonObject>) => unknown'.`,
  ],
  [
    `defineTool({ name: 'pay', description: 'Pays.', outputSchema: z.object({ id: z.string() }) }, () => ({ id: 5 }));`,
    `Type 'number' is not assignable to type 'string'.`,
  ],
  [
    `defineTool({ name: 'pay', description: 'Pays.', outputSchema: z.object({ id: z.string() }) }, async () => ({}));`,
    `Type 'Promise<{}>' is not assignable to type 'Promise<{ id: string; }> | { id: string; }'.`,
  ],
  [
    `defineTool({ name: 'pay', description: 'Pays.', outputSchema: z.string() }, () => {});`,
    `Argument of type '() => void' is not assignable to parameter of type '(input: Record<string, never>, helpers: ToolHelpers<ToolContext, JsonObject>) => string | Promise<string>'.`,
  ],
  [
    `defineTool({ name: 'pay', description: 'Pays.' }, (_input, { interupt }) => interupt());`,
    `Property 'interupt' does not exist on type 'ToolHelpers<ToolContext, JsonObject>'.`,
  ],
  [
    `defineTool({ name: 'pay', description: 'Pays.' }, (_input, { resumed }) => resumed.status);`,
    `'resumed' is possibly 'undefined'.`,
  ],
  [
    `defineTool({ name: 'pay', description: 'Pays.' }, (_input, { interrupt }) => interrupt('Sure?'));`,
    `Argument of type '"Sure?"' is not assignable to parameter of type 'JsonObject | PauseRequest<object> | undefined'.`,
  ],
  [
    `defineTool({ name: 'pay', description: 'Pays.' }, (_input, { interrupt }) => interrupt({ ask: () => true }));`,
    `Type '() => boolean' is not assignable to type 'JsonValue'.`,
  ],
  [
    `defineTool({ name: 'pay', description: 'Pays.' }, (_input, { deny }) => deny());`,
    'Expected 1 arguments, but got 0.',
  ],
  [
    `defineTool({ name: 'pay', description: 'Pays.' }, (_input, { context }) => context.requester.length);`,
    `'context.requester' is of type 'unknown'.`,
  ],
  [
    `defineTool({ name: 'pay', description: 'Pays.' }, (_input, { context }: ToolHelpers<BotToolContext>) => context.user);`,
    `Property 'user' does not exist on type 'BotToolContext'.`,
  ],
  [
    `defineTool({ name: 'pay', description: 'Pays.', resumedSchema: z.object({ ok: z.boolean() }) }, (_input, { resumed }) => resumed?.okay);`,
    `Property 'okay' does not exist on type '{ ok: boolean; } & Answered'.`,
  ],
  [
    `defineTool({ name: 'pay', description: 'Pays.', resumedSchema: z.object({ ok: z.boolean() }) }, (_input, { resumed }) => resumed?.ok === 'yes');`,
    `This comparison appears to be unintentional because the types 'boolean | undefined' and 'string' have no overlap.`,
  ],
  [
    `defineTool({ name: 'pay', description: 'Pays.', needsApproval: 'always' }, () => null);`,
    `Type 'string' is not assignable to type 'boolean | ((input: Record<string, never>) => boolean | Promise<boolean>)'.`,
  ],
  [
    `defineTool({ name: 'pay', description: 'Pays.', inputSchema: z.object({ amount: z.number() }), needsApproval: ({ sum }) => sum > 5 }, () => null);`,
    `Property 'sum' does not exist on type '{ amount: number; }'.`,
  ],
  [
    `defineTool({ name: 'pay', description: 'Pays.', effect: 'twice' }, () => null);`,
    `Type '"twice"' is not assignable to type '"idempotent" | "none" | "once"'.`,
  ],
  [
    `defineTool({ name: 'pay', description: 'Pays.', timeoutMs: '5s' }, () => null);`,
    `Type 'string' is not assignable to type 'number'.`,
  ],
  [
    `defineTool({ name: 'pay', description: 'Pays.', execute: async () => null }, () => null);`,
    `Object literal may only specify known properties, and 'execute' does not exist in type 'ActionConfig<"pay", NoInput, ZodUnknown, JsonSchema>'.`,
  ],
  [
    `defineInterrupt({ name: 'ask', description: 'Asks.' }, () => 'yes');`,
    'Expected 1 arguments, but got 2.',
  ],
  [
    `defineInterrupt({ name: 'ask', description: 'Asks.', requestMetadata: 'urgent' });`,
    `Type 'string' is not assignable to type 'JsonObject | ((input: Record<string, never>) => JsonObject | Promise<JsonObject>)'.`,
  ],
  [
    `pickRoom.respond(roomPause, 'Green');`,
    `Argument of type '"Green"' is not assignable to parameter of type '"Blue" | "Red"'.`,
  ],
  ['pickRoom.respond(roomPause);', 'Expected 2 arguments, but got 1.'],
  [`pickRoom.respond('Red');`, 'Expected 2 arguments, but got 1.'],
  [
    `pickRoom.respond(paused.interrupts, 'Red');`,
    `Type 'readonly (Interrupt<"pickRoom", { choices: string[]; }> | Interrupt<"transferMoney", { toAccountId: string; amount: number; }>)[]' is missing the following properties from type 'Interrupt<string, unknown>': id, toolRequest`,
  ],
  [
    `pickRoom.respond(transferPause, 'Red');`,
    `Argument of type 'Interrupt<"transferMoney", { toAccountId: string; amount: number; }>' is not assignable to parameter of type 'Interrupt<"transferMoney", unknown> & "needs an interrupt of pickRoom; this one is of transferMoney"'.`,
  ],
  [
    'pickRoom.restart(roomPause);',
    `Property 'restart' does not exist on type 'InterruptTool<"pickRoom", { choices: string[]; }, { choices: string[]; }, "Blue" | "Red">'.`,
  ],
  ['transferMoney.restart(transferPause);', 'Expected 2-3 arguments, but got 1.'],
  [
    `transferMoney.restart(transferPause, { status: 'YES' });`,
    `Type '"YES"' is not assignable to type '"APPROVED" | "REJECTED"'.`,
  ],
  [
    `transferMoney.restart(transferPause, 'APPROVED');`,
    `Argument of type 'string' is not assignable to parameter of type '{ status: "APPROVED" | "REJECTED"; } & Answered'.`,
  ],
  [
    `transferMoney.restart(roomPause, { status: 'APPROVED' });`,
    `Argument of type 'Interrupt<"pickRoom", { choices: string[]; }>' is not assignable to parameter of type 'Interrupt<"pickRoom", unknown> & "needs an interrupt of transferMoney; this one is of pickRoom"'.`,
  ],
  [
    `transferMoney.restart(transferPause, { status: 'APPROVED' }, { replaceInput: { amount: '5' } });`,
    `Type 'string' is not assignable to type 'number'.`,
  ],
  [
    'approve(paused.interrupts);',
    `Type 'readonly (Interrupt<"pickRoom", { choices: string[]; }> | Interrupt<"transferMoney", { toAccountId: string; amount: number; }>)[]' is missing the following properties from type 'Interrupt<string, unknown>': id, toolRequest`,
  ],
  ['reject(transferPause, 5);', `Argument of type 'number' is not assignable to parameter of type 'string'.`],
  [
    `closeInterrupt(transferPause, 'rejected', 'No.');`,
    `Argument of type '"rejected"' is not assignable to parameter of type '"denied" | "expired" | "failed" | "stopped" | "superseded" | "withdrawn"'.`,
  ],
  [`closeInterrupt(transferPause, 'expired');`, 'Expected 3 arguments, but got 2.'],
  [`await generate({ model: 'gpt-6', prompt: 'Go' });`, `Type 'string' is not assignable to type 'Model'.`],
  [
    `await generate({ prompt: 'Go' });`,
    `Property 'model' is missing in type '{ prompt: string; }' but required in type 'GenerateOptions<readonly [], never>'.`,
  ],
  [
    `await generate({ model, prompt: 'Go', tools: ['transferMoney'] });`,
    `Type 'string' is not assignable to type 'Tool<string, unknown, unknown>'.`,
  ],
  [
    `await generate({ model, prompt: 'Go', tools: transferMoney });`,
    `Type 'ActionTool<"transferMoney", { toAccountId: string; amount: number; }, { toAccountId: string; amount: number; }, { status: string; }, { status: "APPROVED" | "REJECTED"; } & Answered>' is not assignable to type 'ToolSet | undefined'.`,
  ],
  [
    `await generate({ model, prompt: ['Go'], tools: [transferMoney] });`,
    `Type 'string[]' is not assignable to type 'string'.`,
  ],
  [
    `await generate({ model, prompt: 'Go', maxTurns: 5 });`,
    `Object literal may only specify known properties, and 'maxTurns' does not exist in type 'GenerateOptions<readonly [], never>'.`,
  ],
  [
    `await generate({ model, messages: [{ role: 'user', content: 'Go' }] });`,
    `Type 'string' is not assignable to type '({ text: string; } | { media: { url: string; contentType?: string | undefined; }; })[] | ({ text: string; } | { toolRequest: { name: string; ref: string; input: JsonValue; }; idempotencyKey: string; })[] | ({ ...; } | { ...; })[]'.`,
  ],
  [
    'await generate({ model, messages: paused.messages, resume: true });',
    `Type 'true' is not assignable to type 'Replies | undefined'.`,
  ],
  [
    `await generate({ model, messages: paused.messages, resume: { respond: [transferMoney.restart(transferPause, { status: 'APPROVED' })] } });`,
    `Type '{ respond: RestartReply[]; }' is not assignable to type 'Replies | undefined'.`,
  ],
  [
    'await generate({ model, messages: paused.messages, resume: { approve: [approve(transferPause)] } });',
    `Object literal may only specify known properties, and 'approve' does not exist in type 'Replies'.`,
  ],
  [
    'await settle({ messages: paused.messages, tools });',
    `Property 'resume' is missing in type '{ messages: readonly Message[]; tools: readonly [ActionTool<...>, InterruptTool<...>, ActionTool<...>]; }' but required in type 'SettleOptions<readonly [ActionTool<...>, InterruptTool<...>, ActionTool<...>]>'.`,
  ],
  [
    'for (const interrupt of paused.interrupts) interrupt.toolRequest.input.amount;',
    `Property 'amount' does not exist on type '{ choices: string[]; } | { toAccountId: string; amount: number; }'.`,
  ],
  [
    `for (const interrupt of paused.interrupts) if (interrupt.toolRequest.name === 'transfer') break;`,
    `This comparison appears to be unintentional because the types '"pickRoom" | "transferMoney"' and '"transfer"' have no overlap.`,
  ],
  [
    `if (paused.finishReason === 'done') paused.text;`,
    `This comparison appears to be unintentional because the types '"aborted" | "content-filter" | "cut-stream" | "empty-choice" | "interrupted" | "invalid-output" | "length" | "max-steps" | "model-error" | "refusal" | "stop"' and '"done"' have no overlap.`,
  ],
  [
    `if (paused.finishReason === 'interrupted') paused.error;`,
    `Property 'error' does not exist on type 'ResponseBody<{ transferMoney: ActionTool<"transferMoney", { toAccountId: string; amount: number; }, { toAccountId: string; amount: number; }, { status: string; }, { status: "APPROVED" | "REJECTED"; } & Answered>; pickRoom: InterruptTool<...>; }, never> & { ...; }'.`,
  ],
  [
    `scriptedModel(['Hello', { tool: 'pickRoom' }]);`,
    `Object literal may only specify known properties, and 'tool' does not exist in type 'readonly ScriptedCall[] | ScriptedCall'.`,
  ],
  [
    `const own: Model = { name: 'mine', reply: async () => 'Hello' };`,
    `Type 'Promise<string>' is not assignable to type 'Promise<ModelReply>'.`,
  ],
  [
    `openAIModel({ name: 'gpt-6', apiKey: '' });`,
    `Object literal may only specify known properties, and 'name' does not exist in type 'OpenAIModelOptions'.`,
  ],
];
