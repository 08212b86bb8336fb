import { expect, test } from 'vitest';
import { startDoomedBot } from '../../stories/doomed-bot.ts';
import { CAST } from '../../stories/support.ts';
import { replaceOnce, startPlay } from './support.ts';

const WHOLE_TOUR_MS = 120_000;
/** Short enough to wait for, and long enough for a live process on a busy machine. */
const MORTAL = { silenceMs: 3_000, beatMs: 200, leaseMs: 3_000, renewMs: 200, claimMs: 3_000 };

test(
  'the tour is played as it tells, and after each step exactly that one has become done',
  async () => {
    const play = await startPlay({ change: (text) => replaceOnce(text, 'expires: 45s', 'expires: 3s') });
    const begin = async (id: string) => {
      const step = (await play.tour()).find((candidate) => candidate.id === id);
      if (step?.prompt === undefined) throw new Error(`The tour has no step ${id} with a prompt.`);
      const thread = play.ask(step.prompt, { as: step.as, channel: step.channel });
      expect((await play.tour()).find((candidate) => candidate.id === id)).toMatchObject({
        isDone: false,
        thread: `${thread.channel}:${thread.ts}`,
      });
      return thread;
    };
    const done: string[] = [];
    const isDone = async (id: string) => {
      done.push(id);
      await expect.poll(play.doneSteps, { timeout: 10_000 }).toEqual(done);
    };
    expect(await play.doneSteps()).toEqual([]);

    const question = await begin('question');
    await question.click(CAST.requester, /Which order was it\?/, 'choose:1');
    expect(await play.hears(question, /refunded\./)).toBe(
      'Order A-1002: Desk lamp, bought by Hooper Ltd for $89.00. Nothing of it was refunded.',
    );
    await isDone('question');

    const small = await begin('small-refund');
    await play.hears(small, /Refunded \$20\.00 of order A-1001\./);
    expect(play.repliesIn(small)).toHaveLength(1);
    expect(await play.ledger.order('A-1001')).toMatchObject({ refunded: 2_000 });
    await isDone('small-refund');

    const signed = await begin('signed-refund');
    await play.hears(
      signed,
      /I ask to refund \$120\.00 of \$450\.00\..*needs a signature by policy "finance"/,
    );
    await signed.click(CAST.requester, /Approval needed/, 'approve');
    await play.noticeFor(CAST.requester, /./);
    expect(await play.ledger.order('A-1001')).toMatchObject({ refunded: 2_000 });
    await signed.click(CAST.alice, /Approval needed/, 'approve');
    await play.hears(signed, /Refunded \$120\.00 of order A-1001\. That makes \$140\.00/);
    await isDone('signed-refund');

    const two = await begin('two-people');
    await two.click(CAST.alice, /0 of 2 signed/, 'approve');
    await two.shows(/1 of 2 signed/);
    await two.click(CAST.bruno, /1 of 2 signed/, 'approve');
    await play.hears(two, /Tomo Arai is deleted, with 1 order\./);
    expect(await play.ledger.order('A-1004')).toBeUndefined();
    await isDone('two-people');

    const edit = await begin('edit');
    await play.fillIn(edit, CAST.alice, [/Approval needed/, 'edit'], { 'field-1': '11000' });
    await edit.click(CAST.bruno, /Approval needed[\s\S]*11000/, 'approve');
    await play.hears(
      edit,
      /Refunded \$110\.00 of order A-1003\. You had asked for \$150\.00; it was changed/,
    );
    expect(await play.ledger.order('A-1003')).toMatchObject({ refunded: 11_000 });
    await isDone('edit');

    const reject = await begin('reject');
    await play.fillIn(reject, CAST.bruno, [/Approval needed/, 'reject'], { reason: 'We do not do that.' });
    await play.hears(reject, /was rejected, so it did not run\. The reason given: “We do not do that\.”/);
    expect(await play.ledger.order('A-1003')).toMatchObject({ refunded: 11_000 });
    await isDone('reject');

    const expiry = await begin('expiry');
    await play.hears(expiry, /Nobody decided on the line for the status page in time: it has expired/);
    await isDone('expiry');
    expect(play.model.refusals).toEqual([]);
  },
  WHOLE_TOUR_MS,
);

test(
  'a deployment whose bot is killed in the middle is asked about, and the step is done once somebody has answered',
  async () => {
    const play = await startPlay({
      timing: MORTAL,
      sweep: { everyMs: 200, overdueMs: 0 },
      withoutBot: true,
    });
    const doomed = await startDoomedBot(play, play.manifest);
    const kill = async (kills: number) => (await play.tour(kills)).find(({ id }) => id === 'kill');
    const { prompt = '', text = '' } = (await kill(0)) ?? {};
    expect(await kill(1)).toMatchObject({ text: expect.stringContaining('met no running deployment') });

    const thread = play.ask(prompt);
    await thread.click(CAST.alice, /Approval needed/, 'approve');
    await thread.shows(/building|testing/);
    expect(await kill(1)).toMatchObject({ text, isDone: false });
    await doomed.kill();

    await play.startOwnBot();
    await thread.click(CAST.alice, /deploy_service: unknown/, 'did-not-run');
    expect(await play.doneSteps()).toEqual([]);
    const modal = await play.modalFor(CAST.alice);
    await play.workspace.as(CAST.alice).submit(modal.id, { reason: 'Staging has 2.4.0.' });
    await play.hears(thread, /says that it did not run\. Their note: “Staging has 2\.4\.0\.” Say it again/);
    expect(await kill(1)).toMatchObject({ isDone: true, thread: `${thread.channel}:${thread.ts}` });

    const again = play.ask(prompt);
    await again.click(CAST.bruno, /Approval needed/, 'approve');
    await play.hears(again, /checkout@2\.4\.1 is deployed to staging\./);
  },
  WHOLE_TOUR_MS,
);
