export { type Asking, type ClientOptions, CountersignClient, type Waiting } from './client/client.ts';
export { RefusedError, UnreachableError } from './client/errors.ts';
export { verifyReceipt, verifyWebhook } from './client/verify.ts';
export {
  type Action,
  type Ask,
  type AskRequest,
  type AskStatus,
  type Decision,
  isEnded,
  isUndecided,
  type Json,
  type ListedTool,
  type Plan,
  type Receipt,
  type Report,
  type Run,
  type RunRequest,
  type RunStatus,
  type RunStep,
  type WebhookMessage,
} from './client/views.ts';
