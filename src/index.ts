export { interruptsInside } from './agent/calls/nested.ts';
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
export { type GenerateOptions, type GenerateResponse, generate, interruptsIn } from './agent/generate.ts';
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
  HistoryItem,
  Model,
  ModelConfig,
  ModelFinish,
  ModelReply,
  ModelRequest,
  RawCall,
  ToolChoice,
  ToolSpec,
} from './agent/model.ts';
export { type OpenAIModelOptions, openAIModel } from './agent/openai/openai-model.ts';
export type { PauseChoice, PauseRequest } from './agent/pause.ts';
export {
  approve,
  type CloseReply,
  type CloseStatus,
  closeInterrupt,
  type Replies,
  type Reply,
  type RespondReply,
  type RestartReply,
  type Resume,
  reject,
  restartInside,
} from './agent/replies.ts';
export type { JsonSchema, Schema, StandardSchema } from './agent/schema/compile-schema.ts';
export type { CompiledSchema } from './agent/schema/json-schema.ts';
export {
  type ScriptedCall,
  type ScriptedModel,
  type ScriptedReply,
  scriptedModel,
} from './agent/scripted-model.ts';
export { type SettleOptions, type SettleResponse, settle } from './agent/settle.ts';
export type {
  ActionTool,
  Answered,
  BotToolContext,
  Effect,
  InterruptTool,
  Preview,
  PreviewHelpers,
  Reconciled,
  Tool,
  ToolContext,
  ToolHelpers,
  ToolSet,
  ToolTexts,
  UndoCall,
} from './agent/tool.ts';
export type { ToolFile } from './agent/util/tool-files.ts';
export { type BotOptions, StartError } from './bot-options.ts';
export { type Bot, createBot } from './create-bot.ts';
