import { readFileSync } from 'node:fs';
import { Cluster } from 'ioredis';
import type { AuditRow } from '../../../src/store/port/audit.ts';
import { verifyChain } from '../../../src/store/record/chain-check.ts';
import { openRedisStore } from '../../../src/store/redis/redis-store.ts';
import { logProblems } from '../../oracle/signers.ts';
import { type Effect, readEffects } from '../worker/effects.ts';
import { PREFIX } from '../worker/prefix.ts';
import { allCards, type ShownCard } from './cards.ts';
import type { Errand } from './errand.ts';
import { SECRET, type World } from './start-world.ts';

interface ClickedElement {
  readonly action_id: string;
  readonly block_id?: string;
  readonly value?: string;
  readonly selected_option?: { readonly value: string };
}

/** A click as Slack sent it to the app. */
export interface SeenClick {
  readonly who: string;
  readonly actionId: string;
  readonly requestId: string;
  readonly at: number;
}

/** All that is known from outside: what the tools wrote down, the audit export, and what Slack and the model saw. */
export interface Evidence {
  readonly errands: readonly Errand[];
  readonly finished: ReadonlySet<Errand>;
  readonly effects: readonly Effect[];
  readonly audit: readonly AuditRow[];
  readonly chainProblems: readonly string[];
  readonly cards: readonly ShownCard[];
  readonly clicks: readonly SeenClick[];
  /** Whatever the model refused: a call without its one result is among it. */
  readonly modelRefusals: readonly string[];
  /** The last conversation of each thread that the model was sent, by the first token in it. */
  readonly conversations: ReadonlyMap<string, readonly unknown[]>;
  /** The number of times that people gave each order: one that Slack gave up delivering is given again, and may have been heard. */
  readonly timesOrdered: ReadonlyMap<string, number>;
  /** The number of times that each receipt of a caller was accepted, and those that do not verify. */
  readonly receiptUses: ReadonlyMap<string, number>;
  readonly badReceipts: readonly string[];
  /** The places where the planted secret was seen. */
  readonly leaks: readonly string[];
  /** Whether workers had wrong clocks, so that what they wrote down cannot be put in order by time. */
  readonly clocksDiffer: boolean;
  /** The share of approved actions that must have run. */
  readonly leastExecuted: number;
}

/** All rows of the audit log. */
export async function exportedRows({ client }: Pick<World, 'client'>): Promise<AuditRow[]> {
  const rows: AuditRow[] = [];
  for await (const row of openRedisStore({ client, prefix: PREFIX }).exportAudit()) rows.push(row);
  return rows;
}

/** Looks at a world from outside when it has come to rest. */
export async function gatherEvidence(
  world: World,
  errands: readonly Errand[],
  { leastExecuted, clocksDiffer = false }: { leastExecuted: number; clocksDiffer?: boolean },
): Promise<Evidence> {
  // First of all: what happens while the rest is read must not look as if it had no ground.
  const effects = readEffects(world.effectsFile);
  const store = openRedisStore({ client: world.client, prefix: PREFIX });
  const audit = await exportedRows(world);
  const { problems } = await verifyChain(store);
  const { problems: unproven } = await logProblems(store);
  const { workspace, model } = world;
  return {
    errands,
    finished: world.people.finished,
    effects,
    audit,
    chainProblems: [...problems.map(({ message }) => message), ...unproven],
    cards: allCards(workspace),
    clicks: workspace.deliveries.flatMap(({ payload, attempts }) => {
      if (payload.type !== 'block_actions' || !Array.isArray(payload.actions)) return [];
      const [action]: ClickedElement[] = payload.actions;
      const user: { id?: string } = Object(payload.user);
      // A menu names the action by its option, and the request by its block.
      const option = action?.selected_option?.value;
      const requestId = (option === undefined ? action?.value : action?.block_id) ?? '';
      const actionId = option ?? action?.action_id ?? '';
      return [{ who: user.id ?? '', actionId, requestId, at: attempts[0]?.at ?? 0 }];
    }),
    modelRefusals: model.refusals.map(({ problem }) => problem.message),
    conversations: conversationsOf(model.requests),
    timesOrdered: timesOrdered(world),
    receiptUses: world.callers.receiptUses,
    badReceipts: world.callers.badReceipts,
    leaks: await findLeaks(world, audit),
    clocksDiffer,
    leastExecuted,
  };
}

function timesOrdered({ workspace: { state } }: World): Map<string, number> {
  const times = new Map<string, number>();
  for (const { user, text } of state.messages) {
    if (user === state.app.botUserId) continue;
    for (const [token] of text.matchAll(/tok-[\w-]+/g)) times.set(token, (times.get(token) ?? 0) + 1);
  }
  return times;
}

function conversationsOf(requests: World['model']['requests']): Map<string, readonly unknown[]> {
  const found = new Map<string, readonly unknown[]>();
  for (const { messages } of requests) {
    const token = /tok-[\w-]+/.exec(JSON.stringify(messages))?.[0];
    if (token !== undefined) found.set(token, messages);
  }
  return found;
}

async function findLeaks(world: World, audit: readonly AuditRow[]): Promise<string[]> {
  const leaks: string[] = [];
  if (readFileSync(world.logFile, 'utf8').includes(SECRET)) leaks.push('a log');
  if (JSON.stringify(world.workspace.state.messages).includes(SECRET)) leaks.push('a message in Slack');
  if (JSON.stringify(audit).includes(SECRET)) leaks.push('the audit log');
  const { client } = world;
  for (const node of client instanceof Cluster ? client.nodes('master') : [client]) {
    for await (const keys of node.scanStream({ count: 500 })) {
      for (const key of Array.isArray(keys) ? keys : []) {
        const dumped = await node.dumpBuffer(key);
        if (dumped?.includes(SECRET)) leaks.push(`the key ${key}`);
      }
    }
  }
  return leaks;
}
