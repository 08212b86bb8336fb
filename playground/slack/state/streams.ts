import type { StreamChunk } from '../block-kit/chunks.ts';
import { normalizeBlocks } from './normalize-blocks.ts';
import type { Block, JsonObject, Message, MessageStream, TaskChunk } from './types.ts';

/** True while more can be appended. */
export function isStreaming(message: Message): boolean {
  return message.stream?.state === 'in_progress' && Date.now() < message.stream.expiresAt;
}

/** Appends chunks in order: text is joined, a known task is updated and its details are appended. */
export function appendChunks(stream: MessageStream, chunks: readonly StreamChunk[]): void {
  if (stream.isInPieces === true) stream.parts.push({ kind: 'blocks', blocks: [] });
  for (const chunk of chunks) {
    switch (chunk.type) {
      case 'markdown_text':
        appendText(stream, chunk.text);
        break;
      case 'plan_update':
        stream.planTitle = chunk.title;
        break;
      case 'task_update':
        updateTask(stream, chunk);
        break;
      case 'blocks':
        stream.parts.push({ kind: 'blocks', blocks: normalizeBlocks(chunk.blocks) });
        break;
    }
  }
}

/** Renders the stream so far as message content. */
export function renderStream(stream: MessageStream): { text: string; blocks: Block[] } {
  const tasks = stream.parts.flatMap((part) => (part.kind === 'task' ? [taskCard(part.task)] : []));
  const plan =
    stream.display === 'plan' && (tasks.length > 0 || stream.planTitle !== undefined)
      ? [{ type: 'plan', title: stream.planTitle ?? tasks[0]?.title ?? '', tasks }]
      : [];
  const shown = stream.parts.flatMap((part): JsonObject[] => {
    if (part.kind === 'markdown') return [{ type: 'markdown', text: part.text }];
    if (part.kind === 'blocks') return part.blocks;
    return stream.display === 'plan' ? [] : [taskCard(part.task)];
  });
  const text = stream.parts.map((part) => (part.kind === 'markdown' ? part.text : '')).join('');
  return { text, blocks: normalizeBlocks([...plan, ...shown]) };
}

function appendText(stream: MessageStream, text: string): void {
  const last = stream.parts.at(-1);
  if (last?.kind === 'markdown') last.text += text;
  else stream.parts.push({ kind: 'markdown', text });
}

function updateTask(stream: MessageStream, chunk: TaskChunk): void {
  const known = stream.parts.find((part) => part.kind === 'task' && part.task.id === chunk.id);
  if (known?.kind !== 'task') {
    stream.parts.push({ kind: 'task', task: structuredClone(chunk) });
    return;
  }
  const details = `${known.task.details ?? ''}${chunk.details ?? ''}`;
  known.task = { ...known.task, ...structuredClone(chunk), ...(details !== '' && { details }) };
}

function taskCard({ id, title, status, details, output, sources }: TaskChunk) {
  return {
    type: 'task_card',
    task_id: id,
    title,
    status,
    ...(details !== undefined && { details: richText(details) }),
    ...(output !== undefined && { output: richText(output) }),
    ...(sources !== undefined && { sources }),
  };
}

function richText(text: string): JsonObject {
  const elements = [{ type: 'rich_text_section', elements: [{ type: 'text', text }] }];
  return { type: 'rich_text', elements };
}
