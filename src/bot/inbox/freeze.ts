import { endFreeze, type Freezer, freezeActions } from '../../engine/asks/freeze-actions.ts';
import { mayDecide } from '../../engine/asks/may-decide.ts';
import { ALL_TOOLS, type Freeze, type UnfreezeResult } from '../../store/port/workspace.ts';
import { callerId, callerNamed } from '../../tools/callers.ts';
import type { BotContext } from '../context.ts';
import { UNFREEZE } from '../views/cards/action-ids.ts';
import { runningTitle } from '../views/cards/card-details.ts';
import { freezeTexts, scopeInWords } from '../views/texts/freezes.ts';

/** A person who uses the command or clicks a button. */
interface FreezeRequest {
  readonly who: string;
  readonly id: string;
}

/** Keyboards write two hyphens as a dash. */
const MODEL_OPTION = /^(?:--|–|—)model$/i;

/** Freezes or unfreezes by a slash command, `freeze [tool | caller:NAME | all] [--model] [reason]`, and returns the answer. */
export async function answerFreezeCommand(
  context: BotContext,
  text: string,
  request: FreezeRequest,
): Promise<string> {
  const [verb = '', ...words] = text.trim().split(/\s+/);
  const withModel = words.some((word) => MODEL_OPTION.test(word));
  const rest = words.filter((word) => !MODEL_OPTION.test(word));
  const [first = ''] = rest;
  const isCaller = context.toolbox.callers().has(callerNamed(first) ?? '');
  const isNamed = isCaller || context.toolbox.find(first) !== undefined || (await isFrozen(context, first));
  const isAll = first === '' || (!isNamed && first.toLowerCase() === 'all');
  // The first word may be a mistyped tool, which must not end the freeze of all.
  if (verb.toLowerCase() === 'unfreeze' && !isNamed && !isAll)
    return freezeTexts.unknownFreeze((await context.store.readFreezes()).freezes);
  const scope = isAll ? ALL_TOOLS : first;
  const reason = rest.slice(1).join(' ');
  if (withModel && !isAll) return freezeTexts.onlyWithAll;
  return verb.toLowerCase() === 'freeze'
    ? freezeByCommand(context, { scope, reason, withModel }, request, isNamed || isAll)
    : unfreezeByCommand(context, scope, reason, request);
}

/** A tool that is gone may still be frozen. */
async function isFrozen({ store }: BotContext, scope: string): Promise<boolean> {
  return (await store.readFreezes()).freezes.some((freeze) => freeze.scope === scope);
}

async function freezeByCommand(
  context: BotContext,
  {
    scope,
    reason,
    withModel,
  }: { readonly scope: string; readonly reason: string; readonly withModel: boolean },
  { who, id }: FreezeRequest,
  isKnown: boolean,
): Promise<string> {
  const permission = await mayDecide(context.directory.fresh(), who, context.agent().admins);
  if (!permission.eligible) return freezeTexts.onlyAdmins;
  if (!isKnown)
    return freezeTexts.unknownTool(scope, [
      ...context.toolbox.tools().map(({ name }) => name),
      ...[...context.toolbox.callers().keys()].map(callerId),
    ]);
  const freezer = { who, id, reason, evidence: { click: id, ...permission.evidence } };
  const { outcome, running: actions } = await freezeActions(context.store, scope, freezer, { withModel });
  const running = actions.map(runningTitle);
  if (outcome === 'already-frozen') return freezeTexts.alreadyFrozen(scope, running);
  await tellOthers(context, id, who, freezeTexts.told.frozen(scope, reason, withModel));
  return `${freezeTexts.frozen(scope, running)}${withModel ? freezeTexts.withModel : ''}`;
}

async function unfreezeByCommand(
  context: BotContext,
  scope: string,
  reason: string,
  { who, id }: FreezeRequest,
): Promise<string> {
  const freezer = { who, id, reason, evidence: { click: id } };
  const result = await unfreezeActions(context, scope, freezer);
  const isAsking = result.outcome === 'not-eligible' && context.agent().admins.includes(who);
  if (result.outcome === 'voted' || isAsking) {
    const freeze = await askToUnfreeze(context, scope);
    return freezeTexts.voted(scope, freeze?.votes.length ?? 0, context.agent().unfreeze.quorum);
  }
  return answerUnfreeze(context, scope, result, { who, id });
}

/** Counts a click on the button of a card or of App Home, and returns the answer. */
export async function unfreezeByClick(
  context: BotContext,
  value: string,
  { who, id }: FreezeRequest,
): Promise<string> {
  const [shown = '', scope = ''] = value.split(' ');
  const result = await unfreezeActions(
    context,
    scope,
    { who, id, reason: '', evidence: { click: id } },
    shown,
  );
  if (result.outcome === 'voted') {
    await askToUnfreeze(context, scope);
    return freezeTexts.voted(scope, result.votes, context.agent().unfreeze.quorum);
  }
  return answerUnfreeze(context, scope, result, { who, id });
}

async function answerUnfreeze(
  context: BotContext,
  scope: string,
  { outcome }: UnfreezeResult,
  { who, id }: FreezeRequest,
): Promise<string> {
  switch (outcome) {
    case 'unfrozen':
      await tellOthers(context, id, who, freezeTexts.told.unfrozen(scope));
      return freezeTexts.unfrozen(scope);
    case 'not-eligible':
      return freezeTexts.onlyApprovers;
    case 'not-frozen':
      return freezeTexts.notFrozen(scope);
    default:
      return freezeTexts.changed;
  }
}

/** Tells the other admins, once for each freeze and each end of one. */
async function tellOthers(
  { store, agent }: BotContext,
  id: string,
  who: string,
  text: string,
): Promise<void> {
  for (const user of agent().admins.filter((admin) => admin !== who))
    await store.enqueueOutbox('freeze', {
      id: `freeze-told/${id}/${user}`,
      body: { kind: 'titled', user, text: '', title: text, people: [who] },
    });
}

type FreezeContext = Pick<BotContext, 'store' | 'directory' | 'agent' | 'logger'>;

/** Counts a person's wish to end a freeze, and ends it if enough approvers want it; then what it held goes on. */
async function unfreezeActions(
  { store, directory, agent }: FreezeContext,
  scope: string,
  { who, id, reason, evidence }: Freezer,
  shown?: string,
): Promise<UnfreezeResult> {
  const { approvers, quorum } = agent().unfreeze;
  const fresh = directory.fresh();
  const { freezes } = await store.readFreezes();
  const earlier = freezes.find((freeze) => freeze.scope === scope)?.votes ?? [];
  const [own, ...others] = await Promise.all(
    [who, ...earlier].map(async (person) => ({ person, ...(await mayDecide(fresh, person, approvers)) })),
  );
  return endFreeze(store, {
    scope,
    shown,
    id,
    who,
    quorum,
    reason,
    eligible: own?.eligible === true,
    stillEligible: others.filter(({ eligible }) => eligible).map(({ person }) => person),
    evidence: { ...evidence, ...own?.evidence },
  });
}

/** Asks the approvers who have not voted yet, each once for a freeze. */
async function askToUnfreeze(
  { store, directory, agent }: FreezeContext,
  scope: string,
): Promise<Freeze | undefined> {
  const { freezes } = await store.readFreezes();
  const freeze = freezes.find((each) => each.scope === scope);
  if (freeze === undefined) return undefined;
  const { approvers, quorum } = agent().unfreeze;
  const people = await directory.peopleOf(approvers);
  const { card } = freezeTexts;
  for (const user of people.filter((person) => !freeze.votes.includes(person)))
    await store.enqueueOutbox(`freeze:${scope}`, {
      id: `unfreeze/${freeze.id}/${user}`,
      body: {
        kind: 'titled',
        user,
        text: card.text,
        title: scopeInWords(scope),
        tail: card.tail(freeze, quorum),
        people: [freeze.who],
        button: { actionId: UNFREEZE, text: card.button, value: `${freeze.id} ${scope}` },
      },
    });
  return freeze;
}
