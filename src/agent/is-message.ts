type Fields = { readonly [key: string]: unknown };

/**
 * Tells quickly that a value fresh from `JSON.parse` is a message of version 1. What it accepts the schema accepts as well; a
 * `false` says nothing yet: rare forms (a call that paused inside a tool) are left to the schema, and so is every complaint.
 */
export function isMessage(value: unknown): boolean {
  if (!isFields(value) || value.v !== 1 || !Array.isArray(value.content)) return false;
  const { role, content } = value;
  if (role === 'user')
    return hasOnly(value, USER) && content.length > 0 && isRecord(value.metadata) && content.every(isText);
  if (role === 'model') {
    return (
      hasOnly(value, MODEL) &&
      content.length > 0 &&
      (value.usage === undefined || isUsage(value.usage)) &&
      content.every((part) => isText(part) || isCall(part))
    );
  }
  return (
    role === 'tool' && hasOnly(value, TOOL) && content.every((part) => isResponse(part) || isPause(part))
  );
}

const USER = new Set(['v', 'role', 'content', 'metadata']);
const MODEL = new Set(['v', 'role', 'content', 'usage']);
const TOOL = new Set(['v', 'role', 'content']);
const TEXT = new Set(['text']);
const CALL = new Set(['toolRequest', 'idempotencyKey']);
const REQUEST = new Set(['name', 'ref', 'input']);
const RESPONSE = new Set(['toolResponse', 'status', 'input', 'metadata']);
const OUTPUT = new Set(['name', 'ref', 'output']);
const PAUSE = new Set(['interrupt']);
const INTERRUPT = new Set(['id', 'toolRequest', 'metadata', 'resumed']);
const USAGE = new Set(['inputTokens', 'outputTokens', 'totalTokens']);
const STATUSES = new Set<unknown>(['ok', 'error', 'denied', 'closed']);

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function hasOnly(fields: Fields, allowed: ReadonlySet<string>): boolean {
  for (const name in fields) if (!allowed.has(name)) return false;
  return true;
}

/** What need not be there, and is an object of any kind where it is. */
function isRecord(value: unknown): boolean {
  return value === undefined || (typeof value === 'object' && value !== null);
}

function isWord(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

function isText(part: unknown): boolean {
  return isFields(part) && typeof part.text === 'string' && hasOnly(part, TEXT);
}

function isCall(part: unknown): boolean {
  return isFields(part) && isWord(part.idempotencyKey) && isRequest(part.toolRequest) && hasOnly(part, CALL);
}

function isRequest(value: unknown): boolean {
  return (
    isFields(value) &&
    typeof value.name === 'string' &&
    isWord(value.ref) &&
    value.input !== undefined &&
    hasOnly(value, REQUEST)
  );
}

function isResponse(part: unknown): boolean {
  if (!isFields(part) || !isFields(part.toolResponse) || !STATUSES.has(part.status)) return false;
  const { name, ref, output } = part.toolResponse;
  return (
    typeof name === 'string' &&
    isWord(ref) &&
    output !== undefined &&
    isRecord(part.metadata) &&
    hasOnly(part.toolResponse, OUTPUT) &&
    hasOnly(part, RESPONSE)
  );
}

function isPause(part: unknown): boolean {
  if (!isFields(part) || !isFields(part.interrupt) || !hasOnly(part, PAUSE)) return false;
  const { id, toolRequest, metadata, resumed } = part.interrupt;
  return (
    isWord(id) &&
    isRequest(toolRequest) &&
    isRecord(metadata) &&
    isRecord(resumed) &&
    hasOnly(part.interrupt, INTERRUPT)
  );
}

function isUsage(value: unknown): boolean {
  if (!isFields(value) || !hasOnly(value, USAGE)) return false;
  return isCount(value.inputTokens) && isCount(value.outputTokens) && isCount(value.totalTokens);
}

function isCount(value: unknown): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
