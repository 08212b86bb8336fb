import type { EffectJournal } from '../agent/calls/journal.ts';
import { toJson } from '../agent/json.ts';
import type { CallPart, ToolPart } from '../agent/messages.ts';
import { callAlone, restartAlone } from '../agent/settle.ts';
import { replyToSuperseded } from '../engine/asks/replies-to.ts';
import { channelOf } from '../engine/ports.ts';
import { readReason } from '../engine/reasons.ts';
import { callOf, readDetails } from '../engine/request-details.ts';
import { interruptOf, requestIdOf, threadOf } from '../store/port/keys.ts';
import { type RequestRecord, resolutionOf } from '../store/port/request-record.ts';
import { changeKey, type PolicyChange } from '../tools/manifest/govern.ts';
import { changeName, POLICY_CHANGE_TOOL } from '../tools/toolbox/policy-change.ts';
import { planRequest } from './asks/plan/plan-request.ts';
import type { BotContext } from './context.ts';
import { callContext, engineContext } from './engine-context.ts';
import { quarantineNotice, tellAdmins } from './outbox/tell-admins.ts';
import { adminTexts } from './views/texts/notices.ts';

/** Stands in place of the requester: nobody can know who edited the file. */
const FILE = 'manifest.yml';

/** Lets no call start: its gate asks about it. */
const NOTHING_STARTS: EffectJournal = {
  stopGraceMs: 0,
  recorded: async () => undefined,
  start: async () => false,
  finish: async () => {},
};

/**
 * Asks the approvers of policy changes about a changed manifest, once for each change, from whichever process. It is called again while the
 * change waits, so that one that nobody could be asked about is asked later.
 */
export async function proposeChange(context: BotContext, change: PolicyChange): Promise<void> {
  const { policyChanges } = context.agent();
  if (policyChanges === undefined) return;
  const { channel } = policyChanges;
  const name = changeName(change);
  const id = requestIdOf(channel, name);
  if ((await context.store.load(id)).outcome !== 'unknown') return;
  const call: CallPart = {
    toolRequest: { name: POLICY_CHANGE_TOOL, ref: name, input: toJson(change) },
    // The tool applies no other lines under this key.
    idempotencyKey: changeKey(change),
  };
  const tool = context.toolbox.find(POLICY_CHANGE_TOOL)?.tool;
  const made = tool && (await callAlone({ call, tool, ...settings(context, channel, [FILE]) }));
  if (!(await ask(context, { id, call, requesters: [FILE] }, made)))
    await tellNotApplied(context, id, 'asked');
}

/** Sees to the end of the Run of a change: people are asked again if they have to be; otherwise the admins are told if it was not applied. */
export async function runEnded(context: BotContext, id: string): Promise<void> {
  const loaded = await context.store.load(id);
  if (loaded.outcome === 'malformed')
    return tellAdmins(context, id, quarantineNotice(threadOf(id) ?? '', loaded.problem));
  if (loaded.outcome === 'found') {
    const { request } = loaded;
    if (await askAgain(context, request)) return;
    if (!isApplied(request)) await tellNotApplied(context, id, request.state);
  }
  await context.store.notify(id, 'ended', {});
}

function isApplied({ state, payload = '' }: RequestRecord): boolean {
  return state === 'succeeded' || (state === 'resolved' && resolutionOf(payload).verdict === 'ran');
}

/** Asks again in place of a Run that no longer holds, by a new one. */
async function askAgain(context: BotContext, request: RequestRecord): Promise<boolean> {
  const details = readDetails(request);
  const tool = context.toolbox.find(POLICY_CHANGE_TOOL)?.tool;
  if (request.state !== 'superseded' || details === undefined || tool === undefined) return false;
  const reason = readReason(request.payload);
  const { interrupt } = details;
  const [reply] = replyToSuperseded(engineContext(context), reason, interrupt, tool).restart ?? [];
  if (reply === undefined) return false;
  const editor = reason?.code === 'edited' ? [reason.by] : [];
  const requesters = [...new Set([...request.requesters, ...editor])];
  const call = callOf(details);
  const options = settings(context, channelOf(request.threadId), requesters);
  const made = await restartAlone({ call, interrupt, tool, reply, ...options });
  return ask(context, { id: nextId(request.id), call, requesters, former: request.id }, made);
}

/** Each Run that takes the place of another has the next number. */
function nextId(id: string): string {
  const [name = '', number = '1'] = interruptOf(id).split('_');
  return requestIdOf(threadOf(id) ?? '', `${name}_${Number(number) + 1}`);
}

function settings(context: BotContext, channel: string, requesters: readonly string[]) {
  const people = { requesters, contextAuthors: [] };
  return { context: callContext(context, channel, people), journal: NOTHING_STARTS };
}

/** Opens the Run of a call that its gate asks about; false if nobody can be asked. */
async function ask(
  context: BotContext,
  {
    id,
    call,
    requesters,
    former,
  }: {
    readonly id: string;
    readonly call: CallPart;
    readonly requesters: readonly string[];
    readonly former?: string;
  },
  made: ToolPart | undefined,
): Promise<boolean> {
  if (made === undefined || !('interrupt' in made)) return false;
  await context.toolbox.refreshPeople(requesters);
  const origin = { threadId: threadOf(id) ?? '', requesters, contextAuthors: [], why: '', files: [] };
  const planned = await planRequest(context, origin, call, { ...made.interrupt, id: interruptOf(id) });
  if ('unaskable' in planned) return false;
  const opened = await context.store.open({ ...planned, from: 'manifest' }, former);
  if (opened.outcome === 'invalid-request') throw new Error(`${id} is no request: ${opened.problem}`);
  return true;
}

async function tellNotApplied(context: BotContext, id: string, state: string): Promise<void> {
  await tellAdmins(context, id, {
    id: `${id}/not-applied/${state}`,
    text: adminTexts.changeNotApplied(state),
    kind: 'notice',
  });
}
