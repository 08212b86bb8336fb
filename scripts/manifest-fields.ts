import { z } from 'zod';
import { manifestJsonSchema } from '../src/tools/manifest/schema/manifest-file.ts';

interface Node {
  readonly type?: string | readonly string[] | undefined;
  readonly description?: string | undefined;
  readonly enum?: readonly unknown[] | undefined;
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, Node>> | undefined;
  readonly required?: readonly string[] | undefined;
  readonly additionalProperties?: Node | boolean | undefined;
  readonly items?: Node | undefined;
  readonly anyOf?: readonly Node[] | undefined;
  readonly oneOf?: readonly Node[] | undefined;
}

const Node: z.ZodType<Node> = z.lazy(() =>
  z.object({
    type: z.union([z.string(), z.array(z.string())]).optional(),
    description: z.string().optional(),
    enum: z.array(z.unknown()).optional(),
    const: z.unknown().optional(),
    properties: z.record(z.string(), Node).optional(),
    required: z.array(z.string()).optional(),
    additionalProperties: z.union([z.boolean(), Node]).optional(),
    items: Node.optional(),
    anyOf: z.array(Node).optional(),
    oneOf: z.array(Node).optional(),
  }),
);

/** Writes docs/manifest-fields.md: every field of the manifest but Slack's own, with its type and its meaning, from the schema. */
export function manifestFields(): string {
  const { properties = {} } = Node.parse(manifestJsonSchema());
  const sections = Object.entries(properties).filter(([name]) => name !== 'slack');
  const tables = sections.map(([name, node]) => {
    const rows = rowsOf(node, '');
    const about = node.description === undefined ? '' : `${node.description}\n\n`;
    return `## ${name}\n\n${about}| field | type | meaning |\n| --- | --- | --- |\n${rows.join('\n')}\n`;
  });
  return `# Every field of the manifest

Made from \`manifest.schema.json\` by \`npm run schema\`. A star stands for a name that you choose. Fields in bold are required. The section
\`slack\` is Slack's own app manifest. [Configure](configure.md) explains how the fields work together.

${tables.join('\n')}`;
}

/** The rows of everything below a field, each path once. */
function rowsOf(node: Node, path: string): string[] {
  const rows = new Map<string, string>();
  visit(node, path, rows);
  return [...rows.values()];
}

function visit(node: Node, path: string, rows: Map<string, string>): void {
  for (const [name, child] of Object.entries(node.properties ?? {})) {
    const at = path === '' ? name : `${path}.${name}`;
    const shown = node.required?.includes(name) === true ? `**\`${at}\`**` : `\`${at}\``;
    const meaning = (child.description ?? '').replaceAll('|', '\\|').replaceAll('\n', ' ');
    if (!rows.has(at)) rows.set(at, `| ${shown} | ${typeOf(child).replaceAll('|', '\\|')} | ${meaning} |`);
    visit(child, at, rows);
  }
  const { additionalProperties: named, items } = node;
  if (typeof named === 'object') visit(named, path === '' ? '*' : `${path}.*`, rows);
  if (items !== undefined) visit(items, `${path}[]`, rows);
  for (const choice of [...(node.anyOf ?? []), ...(node.oneOf ?? [])]) visit(choice, path, rows);
}

function typeOf({ type, enum: values, const: value, items, anyOf, oneOf }: Node): string {
  if (values !== undefined) return values.map((each) => `\`${String(each)}\``).join(', ');
  if (value !== undefined) return `\`${String(value)}\``;
  const choices = [...(anyOf ?? []), ...(oneOf ?? [])];
  if (choices.length > 0) return [...new Set(choices.map(typeOf))].join(' or ');
  if (type === 'array') return items === undefined ? 'list' : `list of ${typeOf(items)}`;
  return typeof type === 'string' ? type : (type?.join(' or ') ?? 'any');
}
