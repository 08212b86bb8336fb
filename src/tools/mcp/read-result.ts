import { z } from 'zod';
import type { Media } from '../../agent/messages.ts';

const Block = z.looseObject({ type: z.string() });
type Block = z.infer<typeof Block>;

/** The result of a call. Unknown kinds of content are accepted and described. */
export const CallResult = z.looseObject({
  content: z.array(Block).default([]),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().optional(),
});
export type CallResult = z.infer<typeof CallResult>;

/** Returns a result for the model: the structured content, or else the text with other content described. */
export function readResult(result: CallResult): unknown {
  return result.structuredContent !== undefined ? result.structuredContent : readContent(result);
}

/** Returns the text of a result, with one line in brackets for each part that is no text. */
export function readContent({ content }: CallResult): string {
  return content.map(readBlock).join('\n');
}

const Image = z.object({
  type: z.literal('image'),
  data: z.base64(),
  mimeType: z.string().regex(/^image\/[\w.+-]+$/),
});

/** Returns the images of a result; the text names them as well. */
export function imagesIn({ content }: CallResult): Media[] {
  return content.flatMap((block) => {
    const image = Image.safeParse(block).data;
    if (image === undefined) return [];
    const { data, mimeType: contentType } = image;
    return [{ url: `data:${contentType};base64,${data}`, contentType }];
  });
}

const Resource = z.object({
  uri: z.string(),
  mimeType: z.string().optional(),
  text: z.string().optional(),
  blob: z.string().optional(),
});

function readBlock(block: Block): string {
  const { type, text, data, mimeType, resource, uri } = block;
  if (type === 'text' && typeof text === 'string') return text;
  if (type === 'resource') {
    const parsed = Resource.safeParse(resource);
    if (parsed.success) return readResource(parsed.data);
  }
  return bracketed([type, uri, mimeType], typeof data === 'string' ? data : undefined);
}

function readResource({ uri, mimeType, text, blob }: z.infer<typeof Resource>): string {
  const head = bracketed(['resource', uri, mimeType], blob);
  return text === undefined ? head : `${head}\n${text}`;
}

function bracketed(parts: readonly unknown[], base64: string | undefined): string {
  const words = parts.filter((part) => typeof part === 'string').join(' ');
  return base64 === undefined ? `[${words}]` : `[${words}, ${sizeOf(base64)}]`;
}

function sizeOf(base64: string): string {
  const bytes = Buffer.byteLength(base64, 'base64');
  return bytes < 1000 ? `${bytes} bytes` : `${Math.round(bytes / 1000)} kB`;
}
