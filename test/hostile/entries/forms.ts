import { expect } from 'vitest';
import { CAST } from '../../stories/support.ts';
import { JSONS, TEXTS } from '../corpus.ts';
import { howShown, pick, quotesIn, shownAs, valueIn } from '../shown.ts';
import { callsOf, playAll, startStage } from '../stage.ts';
import { submit } from '../submit.ts';
import { KEEP_NOTE } from './arguments.ts';

const LONGEST_FIELD = 3_000;

/** Put into the form in which an approver changes the arguments. */
export async function playEdits() {
  const small = { note: 'small', data: { is: 'small' } };
  const stage = await startStage({
    tools: KEEP_NOTE,
    reply: (_row, { results }) =>
      results.length > 0
        ? { text: [`told ${results.join()}`] }
        : callsOf('', { name: 'keep_note', arguments: small }),
  });
  const edit = async (row: number, values: Readonly<Record<string, string>>) => {
    const thread = stage.begin(row);
    const card = await thread.shows(/Approval needed: Keep note/);
    const end = await stage.atScreenOf(CAST.bruno, async () => {
      const modal = await stage.open(CAST.bruno, card, 'edit');
      return submit(stage, CAST.bruno, modal.id, values);
    });
    if (end !== 'taken') await stage.withdraw(card);
    if (end !== 'taken') return end;
    const next = await thread.shows(/Approval needed[\s\S]*edited by/);
    const blocks = structuredClone(next.blocks);
    await stage.withdraw(next);
    return blocks;
  };
  const texts = await playAll(TEXTS, async ({ text }, row) => {
    const end = await edit(row, { 'field-0': text });
    return typeof end === 'string' ? end : howShown(text, { ...small, note: text }, end);
  });
  const jsons = await playAll(JSONS, async ({ json }, row) => {
    const end = await edit(TEXTS.length + row, { 'field-2': json });
    return typeof end === 'string' ? end : `asked anew: ${JSON.stringify(valueIn(end))}`;
  });
  await stage.expectUnharmed();
  expect(stage.effects()).toEqual([]);
  return { 'a text in the edit form': texts, 'JSON in the edit form': jsons };
}

/** Asked by the model as a question with choices, and given as the answer in one's own words. */
export async function playQuestions() {
  const stage = await startStage({
    reply: (row, { results }) => {
      const text = TEXTS[row]?.text ?? '';
      const question = { question: text, choices: [text, 'no'], allowOther: true };
      return results.length > 0
        ? { text: [`told ${results.join()}`] }
        : callsOf('', { name: 'ask_question', arguments: question });
    },
  });
  const outcomes = await playAll(TEXTS, async ({ text }, row) => {
    const thread = stage.begin(row);
    const card = await thread.shows(/Question for/);
    const asked = card.blocks.filter((block) =>
      /"section"|"header"|Not all of it/.test(JSON.stringify(block)),
    );
    const question = shownAs(text, asked);
    const end = await stage.atScreenOf(CAST.requester, async () => {
      const modal = await stage.open(CAST.requester, card, 'answer');
      return submit(stage, CAST.requester, modal.id, { 'own-words': text });
    });
    if (end !== 'taken') {
      await stage.withdraw(card);
      return { question, answer: end };
    }
    const answered = await thread.shows(/Answered by/);
    await thread.shows(/told /);
    return { question, answer: shownAs(text, quotesIn(answered.blocks)) };
  });
  await stage.expectUnharmed();
  return {
    'a question and its choices': pick(outcomes, 'question'),
    'an answer in own words': pick(outcomes, 'answer'),
  };
}

/** Asked for by the model as a form: its title, a field's name, label, hint and choices; and filled in. */
export async function playForms() {
  const stage = await startStage({
    reply: (row, { results }) => {
      const text = TEXTS[row]?.text ?? '';
      const properties = {
        words: { type: 'string', title: text, description: text },
        choice: { enum: [text, 'no'] },
        [text]: { type: 'array', items: { type: 'number' } },
      };
      const form = { title: text, fields: { type: 'object', properties } };
      return results.length > 0
        ? { text: [`told ${results.join()}`] }
        : callsOf('', { name: 'request_form', arguments: form });
    },
  });
  const outcomes = await playAll(TEXTS, async ({ text }, row) => {
    const thread = stage.begin(row);
    const first = await thread.shows(/Please fill in|told /);
    if (!/Please fill in/.test(first.text)) {
      const refused = /cannot be used/.test(first.text) ? 'refused: no schema' : 'refused: too long';
      return { form: refused, wrong: refused, value: refused };
    }
    const form = shownAs(text, first.blocks);
    const who = CAST.requester;
    const ends = await stage.atScreenOf(who, async () => {
      const modal = await stage.open(who, first, 'fill-in');
      const typed = text.slice(0, LONGEST_FIELD);
      const wrong = await submit(
        stage,
        who,
        modal.id,
        { 'field-0': typed, 'field-2': typed },
        { stays: true },
      );
      return { wrong, end: await submit(stage, who, modal.id, { 'field-0': typed, 'field-1': '0' }) };
    });
    expect(ends.end).toBe('taken');
    const answered = await thread.shows(/Answered by/);
    return { form, wrong: ends.wrong, value: shownAs(text, quotesIn(answered.blocks).slice(-1)) };
  });
  await stage.expectUnharmed();
  return {
    'a form': pick(outcomes, 'form'),
    'a number in a form': pick(outcomes, 'wrong'),
    'a value in a form': pick(outcomes, 'value'),
  };
}

/** Asked for by the model as a form whose schema is none; what is wrong with it names the words. */
export async function playBrokenForms() {
  const stage = await startStage({
    reply: (row, { results }) => {
      const fields = { type: 'object', properties: { a: { $ref: TEXTS[row]?.text ?? '' } } };
      return results.length > 0
        ? { text: [`told ${results.join()}`] }
        : callsOf('', { name: 'request_form', arguments: { title: 'Broken', fields } });
    },
  });
  const outcomes = await playAll(TEXTS, async (_item, row) => {
    const thread = stage.begin(row);
    const { text: told } = await thread.shows(/told /);
    if (/Not run: .*must not have more than/.test(told)) return 'refused: too long';
    expect(told).toMatch(/its form cannot be used/);
    return 'refused, and said in plain words';
  });
  await stage.expectUnharmed();
  return { 'a form that is no schema': outcomes };
}
