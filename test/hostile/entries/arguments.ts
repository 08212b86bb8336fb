import { expect } from 'vitest';
import { CAST } from '../../stories/support.ts';
import { JSONS, TEXTS } from '../corpus.ts';
import { howShown, pick, quotesIn, shownAs, valueIn } from '../shown.ts';
import { callsOf, hasAction, playAll, startStage } from '../stage.ts';
import { submit } from '../submit.ts';

/** A tool that takes anything and has to be signed. */
export const KEEP_NOTE =
  '  notes: { module: ./test/hostile/fixtures/hostile-tools.ts, approval: { policy: default } }\n';

/** Given by the model as a value and as a name, with the same words beside the call; then rejected with them as the reason. */
export async function playArguments() {
  const inputOf = (row: number) => {
    const text = TEXTS[row]?.text ?? '';
    return { note: text, [text]: 1 };
  };
  const stage = await startStage({
    tools: KEEP_NOTE.replace('policy: default', 'policy: announced'),
    reply: (row, { results }) =>
      results.length > 0
        ? { text: [`It was not done: ${results.join()}`] }
        : callsOf(TEXTS[row]?.text ?? '', { name: 'keep_note', arguments: inputOf(row) }),
  });
  const { workspace } = stage;
  const outcomes = await playAll(TEXTS, async ({ text }, row) => {
    const thread = stage.begin(row);
    const card = await thread.shows(/Approval needed: Keep note/);
    const words = shownAs(text, quotesIn((await stage.announced(card)).blocks));
    const shown = howShown(text, inputOf(row), card.blocks);
    await stage.atScreenOf(CAST.bruno, async () => {
      const details = await stage.open(CAST.bruno, card, 'details');
      await workspace.as(CAST.bruno).close(details.id);
    });
    const end = await stage.atScreenOf(CAST.alice, async () => {
      const modal = await stage.open(CAST.alice, card, 'reject');
      return submit(stage, CAST.alice, modal.id, { reason: text });
    });
    if (end !== 'taken') {
      await stage.withdraw(card);
      return { words, shown, reason: end };
    }
    const rejected = await thread.shows(/Rejected: Keep note/);
    return { words, shown, reason: shownAs(text, quotesIn(rejected.blocks).slice(-1)) };
  });
  await stage.expectUnharmed();
  expect(stage.effects()).toEqual([]);
  return {
    'an argument and its name': pick(outcomes, 'shown'),
    "the model's words beside a call": pick(outcomes, 'words'),
    'the reason of a rejection': pick(outcomes, 'reason'),
  };
}

/** Arguments as bytes, the way a model sends them; what may be signed is signed, and runs as it was shown. */
export async function playArgumentBytes() {
  const stage = await startStage({
    tools: KEEP_NOTE,
    reply: (row, { results }) =>
      results.length > 0
        ? { text: [`told ${results.join()}`] }
        : callsOf('', { name: 'keep_note', arguments: JSONS[row]?.json ?? '' }),
  });
  const outcomes = await playAll(JSONS, async (_item, row) => {
    const thread = stage.begin(row);
    const first = await thread.shows(/Approval needed: Keep note|told /);
    const refusal = /told .*?Not run: the ((?:arguments|number)[^:"\\]*)/.exec(first.text)?.[1];
    if (refusal !== undefined) return `refused: ${refusal.trim()}`;
    if (!hasAction(first, 'approve')) {
      await stage.withdraw(first);
      return 'in the full view only';
    }
    const shown = JSON.stringify(valueIn(first.blocks));
    await stage.workspace.as(CAST.alice).click(first, 'approve');
    await thread.shows(/Done: Keep note/);
    expect(stage.effects()).toContain(shown);
    return `runs as shown: ${shown}`;
  });
  await stage.expectUnharmed();
  return { 'the bytes of arguments': outcomes };
}
