import { z } from 'zod';
import type { Media } from '../../agent/messages.ts';
import type { CompiledSchema } from '../../agent/schema/json-schema.ts';
import type { ToolFile } from '../../agent/util/tool-files.ts';

const Block = z.looseObject({ type: z.string() });
type Block = z.infer<typeof Block>;

/** The result of a call. Unknown kinds of content are accepted and described. */
export const CallResult = z.looseObject({
  content: z.array(Block).default([]),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().optional(),
});
export type CallResult = z.infer<typeof CallResult>;

/**
 * Returns a result for the model: the structured content with a line for each part that is no text, or else the text with other
 * content described. Structured content that does not fit the tool's output schema is not passed on; the call has run all the same.
 */
export function readResult(result: CallResult, outputSchema: CompiledSchema | undefined): unknown {
  const { structuredContent } = result;
  const problem = outputProblem(structuredContent, outputSchema);
  if (problem !== undefined) {
    return [`[the tool ran, but ${problem}]`, ...result.content.map(readBlock)].join('\n');
  }
  if (structuredContent === undefined) return readContent(result);
  const parts = result.content.filter(({ type }) => type !== 'text').map(readBlock);
  return parts.length === 0 ? structuredContent : { structuredContent, content: parts.join('\n') };
}

function outputProblem(
  structuredContent: unknown,
  outputSchema: CompiledSchema | undefined,
): string | undefined {
  if (outputSchema === undefined) return undefined;
  if (structuredContent === undefined) return 'gave no structured result, which its output schema promises';
  const checked = outputSchema.parse(structuredContent);
  if (checked.ok) return undefined;
  const place = checked.field === '' ? '' : ` at "${checked.field}"`;
  return `its structured result does not fit its output schema${place}: ${checked.problem}`;
}

/** Returns the text of a result, with one line in brackets for each part that is no text. */
export function readContent({ content }: CallResult): string {
  return content.map(readBlock).join('\n');
}

const ImageType = z.string().regex(/^image\/[\w.+-]+$/);
const Image = z.object({ type: z.literal('image'), data: z.base64(), mimeType: ImageType });
const EmbeddedImage = z.object({
  type: z.literal('resource'),
  resource: z.object({ blob: z.base64(), mimeType: ImageType }),
});

/** Returns the images of a result, embedded ones too; the text names them as well. */
export function imagesIn({ content }: CallResult): Media[] {
  return content.flatMap((block) => {
    const image = Image.safeParse(block).data;
    if (image !== undefined) return [toMedia(image.data, image.mimeType)];
    const resource = EmbeddedImage.safeParse(block).data?.resource;
    return resource === undefined ? [] : [toMedia(resource.blob, resource.mimeType)];
  });
}

const EmbeddedFile = z.object({
  type: z.literal('resource'),
  resource: z.object({ uri: z.string(), blob: z.base64(), mimeType: z.string().optional() }),
});

/** Returns the images and other binary parts of a result as files for the people of the thread. */
export function filesIn({ content }: CallResult): ToolFile[] {
  return content.flatMap((block, index): ToolFile[] => {
    const image = Image.safeParse(block).data;
    if (image !== undefined) {
      const name = `image-${index + 1}.${image.mimeType.slice('image/'.length).replace('jpeg', 'jpg')}`;
      return [{ name, data: Buffer.from(image.data, 'base64'), type: image.mimeType }];
    }
    const resource = EmbeddedFile.safeParse(block).data?.resource;
    if (resource === undefined) return [];
    const [path = ''] = resource.uri.split(/[?#]/);
    const name = path.split('/').at(-1) || 'file';
    return [{ name, data: Buffer.from(resource.blob, 'base64'), type: resource.mimeType }];
  });
}

function toMedia(base64: string, contentType: string): Media {
  return { url: `data:${contentType};base64,${base64}`, contentType };
}

const Resource = z.object({
  uri: z.string(),
  mimeType: z.string().optional(),
  text: z.string().optional(),
  blob: z.string().optional(),
});

const Link = z.object({
  type: z.literal('resource_link'),
  uri: z.string(),
  name: z.string().optional().catch(undefined),
  title: z.string().optional().catch(undefined),
  description: z.string().optional().catch(undefined),
  mimeType: z.string().optional().catch(undefined),
});

function readBlock(block: Block): string {
  const { type, text, data, mimeType, resource, uri } = block;
  if (type === 'text' && typeof text === 'string') return text;
  if (type === 'resource') {
    const parsed = Resource.safeParse(resource);
    if (parsed.success) return readResource(parsed.data);
  }
  const link = Link.safeParse(block).data;
  if (link !== undefined) return readLink(link);
  return bracketed([type, uri, mimeType], typeof data === 'string' ? data : undefined);
}

function readResource({ uri, mimeType, text, blob }: z.infer<typeof Resource>): string {
  const head = bracketed(['resource', uri, mimeType], blob);
  return text === undefined ? head : `${head}\n${text}`;
}

function readLink({ type, uri, name, title, description, mimeType }: z.infer<typeof Link>): string {
  const label = title ?? name;
  const head = [type, uri, mimeType, label === undefined ? undefined : `"${label}"`];
  return bracketed([...head, description === undefined ? undefined : `- ${description}`], undefined);
}

function bracketed(parts: readonly unknown[], base64: string | undefined): string {
  const words = parts.filter((part) => typeof part === 'string').join(' ');
  return base64 === undefined ? `[${words}]` : `[${words}, ${sizeOf(base64)}]`;
}

function sizeOf(base64: string): string {
  const bytes = Buffer.byteLength(base64, 'base64');
  return bytes < 1000 ? `${bytes} bytes` : `${Math.round(bytes / 1000)} kB`;
}
