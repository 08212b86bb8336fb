import { CAST } from '../../stories/support.ts';
import { JSONS, PAYLOAD, TEXTS } from '../corpus.ts';
import { pick, quotesIn, shownAs } from '../shown.ts';
import { callsOf, playAll, type Stage, startStage } from '../stage.ts';

/** Lets the model wait for a report, and gives the thread, its card and what posts there. */
async function waitForReport(stage: Stage, row: number) {
  const thread = stage.begin(row);
  const card = await thread.shows(/Waiting for an external system/);
  const path = await stage.atScreenOf(CAST.requester, async () => {
    const before = stage.workspace.ephemeralsFor(CAST.requester).length;
    await stage.workspace.as(CAST.requester).click(card, 'show-address');
    const notice = await stage.workspace.until(
      () => stage.workspace.ephemeralsFor(CAST.requester).slice(before).at(0),
      { what: 'the address' },
    );
    return /\/callback\/[\w.-]+/.exec(notice.text)?.[0];
  });
  const post = async (body: string) => {
    const answer = await fetch(`http://127.0.0.1:${stage.bot.port}${path}`, { method: 'POST', body });
    return { status: answer.status, said: await answer.text() };
  };
  return { thread, card, post };
}

const reply =
  (awaited: (row: number) => string) => (row: number, told: { readonly results: readonly string[] }) =>
    told.results.length > 0
      ? { text: [`told ${told.results.join()}`] }
      : callsOf('', { name: 'wait_for_callback', arguments: { awaited: awaited(row) } });

/** The model's description of a callback, and the text that an external system reports. */
export async function playReports() {
  const stage = await startStage({ reply: reply((row) => TEXTS[row]?.text ?? '') });
  const outcomes = await playAll(TEXTS, async ({ text }, row) => {
    const { thread, card, post } = await waitForReport(stage, row);
    const awaited = shownAs(text, card.blocks);
    const { status } = await post(JSON.stringify(text));
    if (status !== 200) {
      await stage.withdraw(card);
      return { awaited, report: `refused with ${status}` };
    }
    const answered = await thread.shows(/Answered: /);
    await thread.shows(/told /);
    return { awaited, report: shownAs(text, quotesIn(answered.blocks).slice(-1)) };
  });
  await stage.expectUnharmed();
  return {
    'what a call-back is for': pick(outcomes, 'awaited'),
    'the text of a report': pick(outcomes, 'report'),
  };
}

/** A report as bytes; what is refused leaves the address good. */
export async function playReportBytes() {
  const stage = await startStage({ reply: reply(() => 'the build') });
  const outcomes = await playAll(JSONS, async ({ json }, row) => {
    const { thread, card, post } = await waitForReport(stage, row);
    const { status, said } = await post(json);
    if (status !== 200) {
      await stage.withdraw(card);
      return `refused with ${status}: ${JSON.parse(said).error}`;
    }
    const answered = await thread.shows(/Answered: /);
    await thread.shows(/told /);
    return shownAs(PAYLOAD, quotesIn(answered.blocks).slice(-1)) === 'shown as it is'
      ? 'shown, and told as data'
      : 'cut, and said so';
  });
  await stage.expectUnharmed();
  return { 'the bytes of a report': outcomes };
}
