import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import type { SentPayload } from '../../playground/slack/web-api/sent-payloads.ts';

const schema = JSON.parse(
  readFileSync(new URL('../bot/fixtures/slack-payloads.schema.json', import.meta.url), 'utf8'),
);
const ajv = new Ajv({ strict: false }).addSchema(schema, 'slack');
const typedBlocks = ajv.compile({ $ref: 'slack#/definitions/Payloads/properties/blocks' });

/** The folder in which payloads are kept for the suites of others, if one is named. */
const KEPT = process.env.COUNTERSIGN_PAYLOADS;

/** Lists what Slack's own types refuse in the sent payloads; the local workspace has already refused what breaks Slack's limits. */
export function payloadProblems(payloads: readonly SentPayload[]): unknown[] {
  if (KEPT !== undefined) {
    const lines = payloads.filter(({ error }) => error === undefined).map((each) => JSON.stringify(each));
    appendFileSync(join(KEPT, `${process.pid}.jsonl`), `${lines.join('\n')}\n`);
  }
  return payloads.flatMap(({ name, payload }) => {
    const view = typeof payload.view === 'object' && payload.view !== null ? payload.view : undefined;
    const blocks = payload.blocks ?? (view !== undefined && 'blocks' in view ? view.blocks : undefined);
    if (blocks === undefined || typedBlocks(blocks)) return [];
    return [{ name, errors: typedBlocks.errors }];
  });
}
