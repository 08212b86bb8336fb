import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Message } from '../../playground/slack/state/types.ts';
import { countFor } from '../support/count-for.ts';
import { MORTAL, startDoomedBot } from './doomed-bot.ts';
import { openDesk, ticketManifest } from './planning.ts';
import { CAST, type Story, startStory, type Thread } from './support.ts';

const { alice, admin } = CAST;
const RUNS = countFor('PLAN_RUNS', { quick: 2, full: 12 });
const manifest = ticketManifest();

const Fate = fc.constantFrom('ok', 'ok', 'ok', 'ok', 'fails', 'lost', 'dies-before', 'dies-after');
/** A plan of some steps, and those that the approver leaves in it; none left means that it is rejected. */
const Planned = fc
  .array(fc.record({ text: fc.string({ maxLength: 12 }), fate: Fate }), { minLength: 2, maxLength: 6 })
  .chain((steps) =>
    fc.record({
      steps: fc.constant(steps),
      kept: fc.oneof(
        fc.constant(steps.map(() => true)),
        fc.array(fc.boolean(), { minLength: steps.length, maxLength: steps.length }),
      ),
    }),
  );

interface Note {
  readonly id: string;
  readonly text: string;
  readonly fate: string;
}

/** Keeps a bot alive in a process of its own: its successor starts when it has died. */
async function keepAlive(story: Story): Promise<() => void> {
  let isOver = false;
  const first = await startDoomedBot(story, manifest);
  const live = async (): Promise<void> => {
    let { gone } = first;
    for (;;) {
      await gone;
      if (isOver) return;
      ({ gone } = await startDoomedBot(story, manifest));
    }
  };
  void live();
  return () => {
    isOver = true;
  };
}

function cardsIn(story: Story, thread: Thread, words: RegExp): Message[] {
  return story.repliesIn(thread).filter(({ text }) => words.test(text));
}

/** Decides the plan as it is meant, looks up what nobody knows, and rejects what is asked again. */
async function decide(
  story: Story,
  thread: Thread,
  { kept, done }: { kept: readonly boolean[]; done: () => Promise<string[]> },
): Promise<void> {
  const { workspace } = story;
  const act = async (
    who: string,
    card: Message,
    action: string,
    values: Record<string, string | string[]>,
  ) => {
    const before = workspace.modalOf(who);
    if (before !== undefined) await workspace.as(who).close(before.id);
    await workspace.as(who).click({ channel: card.channel, ts: card.ts }, action);
    const modal = await story.modalFor(who);
    await workspace.as(who).submit(modal.id, values);
  };
  const numbers = kept.flatMap((isKept, index) => (isKept ? [`${index + 1}`] : []));
  const first = await thread.shows(/Approval needed: [\s\S]*planned step/);
  let isDecided = false;
  for (;;) {
    if (cardsIn(story, thread, /Finished/).length > 0) return;
    const [unknown] = cardsIn(story, thread, /^Outcome unknown/);
    const [asked] = cardsIn(story, thread, /^Approval needed/);
    // A click at a process that has just died is made again.
    try {
      if (unknown !== undefined) {
        const title = unknown.text.replace(/^Outcome unknown: File note /, '');
        const hasRun = (await done()).some((written) => written.includes(`"${title}"`));
        await act(admin, unknown, 'ran', { verdict: hasRun ? 'ran' : 'did-not-run', reason: 'I looked.' });
      } else if (asked?.ts === first.ts && !isDecided) {
        if (numbers.length === 0) await act(alice, asked, 'reject', { reason: 'no' });
        else if (numbers.length === kept.length)
          await workspace.as(alice).click({ channel: asked.channel, ts: asked.ts }, 'approve');
        else await act(alice, asked, 'choose-steps', { 'steps-0': numbers });
        isDecided = true;
      } else if (asked !== undefined && asked.ts !== first.ts)
        await act(alice, asked, 'reject', { reason: 'no' });
    } catch {
      isDecided = false;
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

test('whatever fails or is killed, what ran is a prefix of what was approved, byte for byte, and each once', async () => {
  const desk = await openDesk();
  const plans = new Map<string, readonly Note[]>();
  const story = await startStory({
    manifest,
    timing: MORTAL,
    sweep: { everyMs: 100, overdueMs: 0 },
    withoutBot: true,
    replies: ({ messages }) => {
      const [, name = ''] = /(plan-\d+)/.exec(JSON.stringify(messages)) ?? [];
      if (messages.some(({ role }) => role === 'tool')) return { text: `Finished ${name}.` };
      const steps = (plans.get(name) ?? []).map((input) => ({ tool: 'file_note', input }));
      return { calls: [{ name: 'propose_plan', arguments: { goal: 'File them', steps } }] };
    },
  });
  const leave = await keepAlive(story);
  let count = 0;
  const played = fc.assert(
    fc.asyncProperty(Planned, async ({ steps, kept }) => {
      count += 1;
      const name = `plan-${count}`;
      const notes = steps.map(({ text, fate }, index) => ({ id: `${name}.${index + 1}`, text, fate }));
      plans.set(name, notes);
      const own = async () => (await desk.done()).filter((written) => written.includes(`"${name}.`));
      await decide(story, story.ask(name), { kept, done: own });
      const approved = notes.filter((_, index) => kept[index] === true);
      const ran = await own();
      // Nothing twice, nothing else, nothing out of order.
      expect(ran).toEqual(approved.slice(0, ran.length).map((note) => JSON.stringify(note)));
      const stop = approved.findIndex(({ fate }) => fate === 'fails' || fate === 'dies-before');
      expect(ran).toHaveLength(stop === -1 ? approved.length : stop);
    }),
    { numRuns: RUNS, endOnFailure: true },
  );
  await played.finally(leave);
});
