export { nestedInterrupts } from './agent/calls/nested.ts';
export type { ToolFailure, ToolProgress } from './agent/calls/run-call.ts';
export {
  type ActionConfig,
  defineInterrupt,
  defineTool,
  type InterruptConfig,
  type ToolConfig,
} from './agent/define-tool.ts';
export {
  AgentError,
  DefinitionError,
  HistoryError,
  ModelError,
  notDone,
  ReplyError,
} from './agent/errors.ts';
export { type GenerateOptions, type GenerateResponse, generate } from './agent/generate.ts';
export type { JsonObject, JsonValue } from './agent/json.ts';
export {
  type FinishReason,
  type Interrupt,
  type Media,
  type Message,
  parseMessage,
  type Usage,
  userMessage,
} from './agent/messages.ts';
export type {
  Model,
  ModelConfig,
  ModelReply,
  ModelRequest,
  ToolChoice,
} from './agent/model.ts';
export { type OpenAIModelOptions, openAIModel, type RefusedField } from './agent/openai/openai-model.ts';
export {
  type CloseReply,
  closeInterrupt,
  type RespondReply,
  type RestartReply,
  type Resume,
  restartNested,
} from './agent/replies.ts';
export type { JsonSchema, Schema, StandardSchema } from './agent/schema/compile-schema.ts';
export { type SettleOptions, type SettleResponse, settle } from './agent/settle.ts';
export type { Answered, BotToolContext, Reconciled, Tool, ToolContext, ToolHelpers } from './agent/tool.ts';
