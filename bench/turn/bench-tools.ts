import { z } from 'zod';
import { defineTool } from '../../src/agent/tool.ts';
import type { Manifest } from '../../src/tools/manifest/manifest.ts';
import { parseManifest } from '../../src/tools/manifest/parse.ts';
import { Secrets } from '../../src/tools/secrets.ts';
import { describeApprovals } from '../../src/tools/toolbox/approval-notice.ts';
import { buildEntries } from '../../src/tools/toolbox/tool-entries.ts';
import type { Toolbox } from '../../src/tools/toolbox/toolbox.ts';
import { refund } from './side.ts';

export const APPROVER = 'U0000ALICE';
export const REQUESTER = 'U0000RITA';

const MANIFEST = `
slack: { display_information: { name: Countersign } }
agent:
  instructions: You help.
  limits: { pending_per_person: 10000000 }
  built_ins: { ask_question: false, request_form: false, wait_for_callback: false, complete_task: false }
policies:
  default: { approvers: [${APPROVER}], expires: 4h, remind: 1h, direct_messages: false }
tools: { bench: { module: ./bench.ts, approval: { policy: default, when: "input.amount > 1000" } } }
`;

/** A toolbox of so many tools behind their real gates; the first is the one that the model calls. */
export function benchTools(count: number): Toolbox & { readonly manifest: Manifest } {
  const parsed = parseManifest(MANIFEST, { file: 'bench.yml', environment: {} });
  if (!parsed.ok) throw new Error(`The manifest of the bench does not hold: ${JSON.stringify(parsed)}`);
  const { manifest } = parsed;
  const tools = Array.from({ length: count }, (_, place) => buildTool(place));
  const sources = manifest.tools.map((declaration) => ({
    declaration,
    tools: () => tools,
    hintsOf: () => undefined,
    problems: () => [],
    describe: () => undefined,
    close: async () => {},
  }));
  const { entries } = buildEntries(manifest, sources, new Secrets());
  const all = [...entries.values()];
  return {
    manifest,
    tools: () => all.map(({ tool }) => tool),
    toolsFor: () => all.map(({ tool }) => tool),
    find: (name) => entries.get(name),
    policy: (name) => manifest.policies.get(name),
    notice: () => describeApprovals(all, (name) => manifest.policies.get(name)),
    close: async () => {},
  };
}

function buildTool(place: number) {
  return defineTool(
    {
      name: `refundOrder${place}`,
      description: `Refunds an order of region ${place}, in part or whole, and says what was refunded.`,
      inputSchema: z.object({
        order: z.string().describe('the number of the order, as the customer gives it'),
        amount: z.number().int().positive().describe('the amount in cents'),
        reason: z.string().describe('why, for the books'),
      }),
      outputSchema: z.object({ refunded: z.number(), order: z.string() }),
    },
    ({ order, amount }) => refund(order, amount),
  );
}
