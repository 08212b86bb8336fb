import { makeSecret } from '../ids.ts';
import type { Block, JsonObject } from './types.ts';

const WITHOUT_ACTION = ['image', 'plain_text', 'mrkdwn'];

/** Copies blocks and gives a `block_id` and `action_id`s to those that came without, as Slack does. */
export function normalizeBlocks(blocks: readonly JsonObject[]): Block[] {
  return blocks.map((original) => {
    const copy = structuredClone(original);
    for (const element of elementsOf(copy)) {
      if (!WITHOUT_ACTION.includes(String(element.type))) element.action_id ??= makeSecret(3);
    }
    return { ...copy, type: String(copy.type), block_id: String(copy.block_id ?? makeSecret(3)) };
  });
}

/** The elements a person can act on in one block: of an actions block, an accessory, an input, a card. */
export function elementsOf(block: JsonObject): JsonObject[] {
  const nested = [
    ...objects(block.child_blocks),
    ...(block.type === 'carousel' ? objects(block.elements) : []),
  ];
  const own = ['actions', 'context_actions'].includes(String(block.type)) ? objects(block.elements) : [];
  return [
    ...own,
    ...(block.type === 'card' ? objects(block.actions) : []),
    ...objects([block.accessory, block.element]),
    ...nested.flatMap(elementsOf),
  ];
}

/** True for a JSON object, neither null nor a list. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The JSON objects of a list; nothing for anything else. */
export function objects(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
