import type { InputBlock, KnownBlock, PlainTextOption } from '@slack/types';
import { z } from 'zod';
import { mayRunOnceMore } from '../../../engine/asks/after-end.ts';
import type { RequestRecord } from '../../../store/port/request-record.ts';
import type { Elicitation } from '../../../tools/mcp/server-pause.ts';
import { readableName } from '../../../tools/presentation/formats.ts';
import { limits } from '../../slack/limits.ts';
import { DID_NOT_RUN, OPEN_LINK, RAN, RUN_AGAIN } from '../cards/action-ids.ts';
import { approvalButtonText, contextLine } from '../cards/approval-card.ts';
import { buildBody } from '../cards/caller-body.ts';
import { callersIn, context, line, plain } from '../cards/card.ts';
import { type CardDetails, cardDetailsOf, questionOf, titleOf } from '../cards/card-details.ts';
import { hostOf } from '../cards/form-card.ts';
import { choicesOfOptions, optionsOf } from '../cards/question-card.ts';
import { onceRunText } from '../facets/approver-lines.ts';
import { previewBlocks } from '../facets/preview-lines.ts';
import { words } from '../texts/format.ts';
import { grantTexts } from '../texts/grants.ts';
import { modalTexts } from '../texts/modals.ts';
import { planTexts } from '../texts/plans.ts';
import { showLabel } from '../texts/show-text.ts';
import { menuOf } from './fields/field-element.ts';
import {
  ANSWER_MODAL,
  APPROVE_MODAL,
  CHOOSE_MODAL,
  COMMENT_MODAL,
  GRANT_MODAL,
  type Modal,
  modal,
  multilineInput,
  parseModalState,
  REJECT_MODAL,
  RESOLVE_MODAL,
  type Submission,
  textIn,
  titleFrom,
  untrustedText,
} from './modal.ts';

const TARGET = 'target';

/** Builds the modal of a high-risk approval, which names the call and asks to type its target; a sentence if it has none. */
export function buildApproveModal(request: RequestRecord): Modal | string {
  const details = cardDetailsOf(request);
  const target = details?.presented.target;
  if (details === undefined || target === undefined) return modalTexts.unreadable;
  return modal(request.id, {
    callbackId: APPROVE_MODAL,
    title: modalTexts.approveTitle,
    submit: approvalButtonText(request, details),
    blocks: [
      untrustedText(modalTexts.approveIntro(details.presented.title)),
      ...callToApprove(request, details),
      {
        type: 'input',
        block_id: TARGET,
        label: plain(modalTexts.typeTarget(showLabel(target, limits.label))),
        element: { type: 'plain_text_input', action_id: TARGET },
      },
      commentInput(),
    ],
  });
}

/** Builds the modal that approves a call with a comment. */
export function buildCommentModal(request: RequestRecord): Modal | string {
  const details = cardDetailsOf(request);
  if (details === undefined) return modalTexts.unreadable;
  return modal(request.id, {
    callbackId: COMMENT_MODAL,
    title: modalTexts.approveTitle,
    submit: approvalButtonText(request, details),
    blocks: [
      untrustedText(modalTexts.commentedIntro(details.presented.title)),
      ...callToApprove(request, details),
      commentInput(),
    ],
  });
}

/** Repeats what the card says of the call: who asked, its arguments, what it would change, and whether it can be undone. */
function callToApprove(request: RequestRecord, details: CardDetails): KnownBlock[] {
  const { preview } = details.facets;
  return [
    contextLine(request, details, { view: 'direct' }),
    ...buildBody(details).blocks,
    ...(preview === undefined ? [] : previewBlocks(preview)),
    context(words(onceRunText(details))),
  ];
}

function commentInput(): InputBlock {
  return multilineInput(REASON, modalTexts.comment, { optional: true });
}

/** Reads the comment of an approval. */
export function parseComment(values: unknown): { readonly reason?: string } {
  const reason = textIn(values, REASON);
  return reason === undefined ? {} : { reason };
}

/** Checks the typed target against the record. Case and blanks around it make no difference. */
export function parseTarget(request: RequestRecord, values: unknown): Submission<true> {
  const target = cardDetailsOf(request)?.presented.target;
  const typed = textIn(values, TARGET);
  const isSame =
    target !== undefined &&
    typed !== undefined &&
    [target, showLabel(target, limits.label)].some((text) => fold(text) === fold(typed));
  return isSame ? { ok: true, value: true } : { ok: false, errors: { [TARGET]: modalTexts.wrongTarget } };
}

function fold(text: string): string {
  return text.trim().toLowerCase();
}

/** Builds the modal that approves a call and allows the same again: the call, and the exact scope in words. */
export function buildGrantModal(request: RequestRecord): Modal | string {
  const details = cardDetailsOf(request);
  const terms = details?.facets.grants;
  if (details === undefined || terms === undefined) return modalTexts.unreadable;
  const [caller] = callersIn(request.requesters);
  const scope = grantTexts.scope(terms, readableName(details.name), caller);
  return modal(request.id, {
    callbackId: GRANT_MODAL,
    title: grantTexts.title,
    submit: grantTexts.submit,
    blocks: [
      untrustedText(grantTexts.intro(details.presented.title)),
      ...callToApprove(request, details),
      line(words(showLabel(scope, limits.quoteCharacters), { bold: true })),
      line(words(grantTexts.rules)),
      commentInput(),
    ],
  });
}

const STEPS = 'steps';

/** Builds the modal that chooses the steps of a plan; a sentence if it is not open. Slack takes few checkboxes in one group. */
export function buildChooseModal(request: RequestRecord): Modal | string {
  const plan = cardDetailsOf(request)?.facets.plan;
  if (plan === undefined || request.state !== 'pending') return planTexts.notOpen;
  const options = plan.steps
    .filter(({ alone }) => !alone)
    .map(({ number, presented }) => ({
      isChosen: request.steps?.[number - 1]?.isChosen !== false,
      option: {
        text: plain(showLabel(`${number}. ${presented.title}`, limits.optionText)),
        value: `${number}`,
      },
    }));
  const groups = Array.from({ length: Math.ceil(options.length / limits.checkboxes) }, (_, index) =>
    options.slice(index * limits.checkboxes, (index + 1) * limits.checkboxes),
  );
  return modal(request.id, {
    callbackId: CHOOSE_MODAL,
    title: planTexts.chooseTitle,
    submit: planTexts.chooseSubmit,
    blocks: [
      line(words(planTexts.chooseIntro)),
      ...groups.map((group, index): InputBlock => {
        const chosen = group.filter(({ isChosen }) => isChosen).map(({ option }) => option);
        return {
          type: 'input',
          block_id: `${STEPS}-${index}`,
          label: plain(index === 0 ? planTexts.chooseLabel : planTexts.chooseMore),
          optional: true,
          element: {
            type: 'checkboxes',
            action_id: `${STEPS}-${index}`,
            options: group.map(({ option }) => option),
            ...(chosen.length > 0 && { initial_options: chosen }),
          },
        };
      }),
    ],
  });
}

/** Parses the numbers of the chosen steps. */
export function parseChosenSteps(values: unknown): Submission<number[]> {
  const numbers = [...parseModalState(values).values()].flatMap(({ state }) =>
    (state.selected_options ?? []).map(({ value }) => Number(value)),
  );
  return numbers.length === 0
    ? { ok: false, errors: { [`${STEPS}-0`]: planTexts.chooseFirst } }
    : { ok: true, value: numbers };
}

export const REASON = 'reason';

/** Builds the modal that asks for the reason of a rejection, which the requester and the model are told. */
export function buildRejectModal(request: RequestRecord): Modal {
  return modal(request.id, {
    callbackId: REJECT_MODAL,
    title: modalTexts.rejectTitle,
    submit: modalTexts.reject,
    blocks: [
      untrustedText(modalTexts.rejectIntro(titleOf(request))),
      multilineInput(REASON, modalTexts.rejectReason),
    ],
  });
}

/** Parses the reason; blanks count as none. */
export function parseReason(values: unknown): Submission<string> {
  const reason = textIn(values, REASON);
  if (reason === undefined) return { ok: false, errors: { [REASON]: modalTexts.reasonMissing } };
  return { ok: true, value: reason };
}

export const VERDICT = 'verdict';

const Verdict = z.enum([RAN, DID_NOT_RUN, RUN_AGAIN]);
type Verdict = z.infer<typeof Verdict>;
const labels: Readonly<Record<Verdict, string>> = {
  [RAN]: modalTexts.ran,
  [DID_NOT_RUN]: modalTexts.didNotRun,
  [RUN_AGAIN]: modalTexts.runAgain,
};

/** Builds the modal that resolves an unknown outcome, with the clicked verdict preselected. */
export function buildResolveModal(request: RequestRecord, verdict: Verdict): Modal {
  const option = (value: Verdict): PlainTextOption => ({ text: plain(labels[value]), value });
  const verdicts = Verdict.options.filter((value) => value !== RUN_AGAIN || mayRunOnceMore(request));
  return modal(request.id, {
    callbackId: RESOLVE_MODAL,
    title: modalTexts.resolveTitle,
    tries: request.attempts,
    submit: modalTexts.save,
    blocks: [
      untrustedText(modalTexts.resolveIntro(titleOf(request))),
      {
        type: 'input',
        block_id: VERDICT,
        label: plain(modalTexts.whatHappened),
        element: {
          type: 'radio_buttons',
          action_id: VERDICT,
          options: verdicts.map(option),
          ...(verdicts.includes(verdict) && { initial_option: option(verdict) }),
        },
      },
      multilineInput(REASON, modalTexts.howKnown),
    ],
  });
}

/** Parses the verdict and the reason. */
export function parseResolution(
  values: unknown,
): Submission<{ readonly verdict: Verdict; readonly reason: string }> {
  const verdict = Verdict.safeParse(parseModalState(values).get(VERDICT)?.state.selected_option?.value);
  const reason = parseReason(values);
  if (verdict.success && reason.ok)
    return { ok: true, value: { verdict: verdict.data, reason: reason.value } };
  const errors = {
    ...(!verdict.success && { [VERDICT]: modalTexts.chooseOne }),
    ...(!reason.ok && reason.errors),
  };
  return { ok: false, errors };
}

export const CHOICE = 'choice';
export const OWN_WORDS = 'own-words';
/** The most choices of a menu in a modal; further ones need a written answer. */
const MOST_CHOICES = limits.selectOptions * limits.optionGroups;

/** Builds the modal that answers a question: by a menu, a written answer if it is allowed, or both. */
export function buildAnswerModal(request: RequestRecord): Modal {
  const { message: question, choices, several, allowOther } = questionOf(request);
  const options = optionsOf(choices).slice(0, MOST_CHOICES);
  const menu: InputBlock = {
    type: 'input',
    block_id: CHOICE,
    label: plain(modalTexts.chooseLabel(several)),
    element: { action_id: CHOICE, ...menuOf(options, { several }) },
    optional: allowOther,
  };
  const own = multilineInput(OWN_WORDS, modalTexts.yourAnswer(options.length === 0), {
    optional: options.length > 0,
  });
  const blocks = [
    untrustedText(question),
    ...(options.length === 0 ? [] : [menu]),
    ...(allowOther || options.length === 0 ? [own] : []),
  ];
  return modal(request.id, {
    callbackId: ANSWER_MODAL,
    title: titleFrom(question, modalTexts.answerTitle),
    submit: modalTexts.answerTitle,
    blocks,
  });
}

/** Parses the answer: a text, or a list for several choices; an answer that the question does not allow is an error. */
export function parseAnswer(request: RequestRecord, values: unknown): Submission<string | string[]> {
  const { several, choices, allowOther } = questionOf(request);
  const inputs = parseModalState(values);
  const menu = inputs.get(CHOICE)?.state;
  const chosen = menu?.selected_options ?? (menu?.selected_option ? [menu.selected_option] : []);
  const taken = choicesOfOptions(
    request,
    chosen.map(({ value }) => value),
  );
  if (taken === undefined) return { ok: false, errors: { [CHOICE]: modalTexts.notAChoice } };
  const own = allowOther || choices.length === 0 ? textIn(values, OWN_WORDS) : undefined;
  const answers = own === undefined ? taken : [...taken, own];
  const [first, second] = answers;
  const field = inputs.has(CHOICE) ? CHOICE : OWN_WORDS;
  if (first === undefined) return { ok: false, errors: { [field]: modalTexts.noAnswer } };
  if (several) return { ok: true, value: answers };
  if (second !== undefined) return { ok: false, errors: { [OWN_WORDS]: modalTexts.eitherOr } };
  return { ok: true, value: first };
}

export const URL_MODAL = 'open-link';

/** Builds the modal with the address that a server wants a person to open. Nothing fetches it; the person's browser does. */
export function buildUrlModal(request: RequestRecord, { server, question }: Elicitation): Modal | undefined {
  if (question.mode !== 'url') return undefined;
  const blocks: KnownBlock[] = [
    line(words(modalTexts.askedBy(showLabel(server, limits.label)))),
    untrustedText(question.message),
    line(words(modalTexts.opens), words(hostOf(question.url), { bold: true })),
    {
      type: 'actions',
      elements: [
        { type: 'button', action_id: OPEN_LINK, text: plain(modalTexts.openLink), url: question.url },
      ],
    },
    line(words(modalTexts.continueAfter)),
  ];
  return modal(request.id, {
    callbackId: URL_MODAL,
    title: modalTexts.linkTitle,
    submit: modalTexts.continue,
    blocks,
  });
}
