import { z } from 'zod';
import { buildCard } from '../../bot/views/cards/build-card.ts';
import { buildDetailsModal } from '../../bot/views/modals/details-modal.ts';
import type { RequestRecord } from '../../store/port/request-record.ts';
import { readWaiting } from '../../store/redis/verbs/read-waiting.ts';
import { callSlack } from '../shared/call-slack.ts';
import type { CommandContext } from '../shared/command.ts';
import { type OpenedRecord, withRecord } from '../shared/open-record.ts';
import { type Finding, failed, firstLineOf, notChecked, ok } from './finding.ts';

const CHECK = 'cards';
const MOST_REQUESTS = 50;
const Errors = z.array(z.object({ pointer: z.string().catch(''), message: z.string().catch('') })).catch([]);

/** Asks Slack whether it takes the cards and details of the requests that wait. Nothing is posted. */
export async function checkCards(context: CommandContext): Promise<Finding[]> {
  const { SLACK_BOT_TOKEN: token = '', REDIS_URL: url = '' } = context.environment;
  if (token === '' || url === '') return [notChecked(CHECK, 'SLACK_BOT_TOKEN or REDIS_URL is not set')];
  try {
    const requests = await withRecord(context, readRequests);
    if (requests.length === 0) return [notChecked(CHECK, 'no request waits, so there is no card')];
    const findings: Finding[] = [];
    for (const request of requests)
      for (const [part, payload] of Object.entries(payloadsOf(request)))
        findings.push(...(await validate(request.id, part, payload, token, context.environment)));
    return findings.length > 0 ? findings : [ok(CHECK, `Slack takes those of ${requests.length} requests`)];
  } catch (error) {
    return [failed(CHECK, firstLineOf(error))];
  }
}

async function readRequests({ store, client, prefix }: OpenedRecord): Promise<RequestRecord[]> {
  const requests: RequestRecord[] = [];
  for await (const requestId of readWaiting(client, prefix)) {
    const loaded = await store.load(requestId);
    if (loaded.outcome === 'found') requests.push(loaded.request);
    if (requests.length === MOST_REQUESTS) break;
  }
  return requests;
}

function payloadsOf(request: RequestRecord) {
  const { text, blocks } = buildCard(request, { view: 'thread' });
  return { message: { text, blocks }, view: buildDetailsModal(request, { page: 0 }) };
}

async function validate(
  requestId: string,
  part: string,
  payload: object,
  token: string,
  environment: NodeJS.ProcessEnv,
): Promise<Finding[]> {
  const args = { [part]: JSON.stringify(payload) };
  const { ok: isTaken, error, body } = await callSlack('blocks.validate', token, args, environment);
  if (isTaken) return [];
  const reasons = Errors.parse(body.errors).map(({ pointer, message }) => `${message} (${pointer})`);
  const what = part === 'view' ? 'details' : 'card';
  return [failed(CHECK, `Slack refuses the ${what} of ${requestId}: ${[error, ...reasons].join('; ')}`)];
}
