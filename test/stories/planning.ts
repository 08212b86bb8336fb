import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import { CALLERS } from './calling.ts';
import { CAST, type Story } from './support.ts';

/** A manifest of ticket tools: most need one approval, payments two, and large ones are of high risk. */
export const ticketManifest = ({ agent = '', rules = '' } = {}) => `
slack: { display_information: { name: Countersign } }
agent: { instructions: Help.${agent} }
policies:
  default: { approvers: [${CAST.alice}, ${CAST.bruno}], resolvers: [${CAST.admin}], notify: { direct_messages: false } }
  two: { approvers: [${CAST.alice}, ${CAST.bruno}], quorum: 2, notify: { direct_messages: false } }
  large: { approvers: [${CAST.alice}], risk: high, confirm: false, notify: { direct_messages: false } }
tools:
  desk:
    module: ./test/stories/fixtures/ticket-tools.ts
    reversible: yes
    approval:
${rules}
      - { match: read_ticket, require: never }
      - { match: pay_customer, when: "input.amount > 1000.0", policy: large }
      - { match: pay_customer, policy: two }
      - { match: "*", policy: default }
`;

export const close = (ticket: string, customer = 'Acme') => ({
  tool: 'close_ticket',
  input: { ticket, customer },
});
export const pay = (customer: string, amount: number) => ({
  tool: 'pay_customer',
  input: { customer, amount },
});

/** The model's answer that proposes a plan. */
export const propose = (...steps: PlannedCalls) => ({
  calls: [{ name: 'propose_plan', arguments: { goal: 'Clear the queue', steps: [...steps] } }],
});

export type PlannedCalls = readonly { readonly tool: string; readonly input: object }[];

/** The body with which a caller proposes a plan. */
export const planOf = (...steps: PlannedCalls) => ({
  tool: 'propose_plan',
  input: { goal: 'Clear the queue', steps },
});

const RELEASE = `policies:\n  release: { approvers: [${CAST.alice}], notify: { direct_messages: false } }`;

/** A manifest with a caller that may propose plans, and one that may not. */
export const PLANNING_CALLER = `${ticketManifest().replace('policies:', RELEASE)}${CALLERS.replace(
  'tools: [refund_*, delete_customer, read_order]',
  'tools: [close_ticket, file_note, propose_plan]',
).replace('tools: [refund_order]', 'tools: [close_ticket]')}`;

/** The file in which the ticket tools note what they did. */
export async function openDesk() {
  const folder = await mkdtemp(join(tmpdir(), 'desk-'));
  const file = join(folder, 'tickets');
  process.env.TICKETS_FILE = file;
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return {
    done: async () =>
      (await readFile(file, 'utf8').catch(() => '')).split('\n').filter((written) => written !== ''),
  };
}

/** The events of the audit log, in order. */
export async function eventsOf({ redis, prefix }: Story): Promise<string[]> {
  const events: string[] = [];
  for await (const { event } of openRedisStore({ client: redis, prefix }).exportAudit()) events.push(event);
  return events;
}
