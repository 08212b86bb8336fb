import { CAST, CHANNELS } from '../../../playground/slack/default-cast.ts';
import type { AuditRow } from '../../../src/store/port/audit.ts';
import type { Violation } from '../check/invariants.ts';
import { type Errand, makeErrand } from './errand.ts';
import type { World } from './start-world.ts';

const ANSWER_WITHIN_MS = 3_000;
const REFUSED_WITHIN_MS = 30_000;
const FOR_BRUNO = new RegExp(` for ${CAST.bruno}$`);
const REFUSED = /can approve this|don't decide for anyone/;
const DEPUTED = { kind: 'signed for somebody who is back', tools: ['deputed'], intent: 'approve' } as const;

/** An approver who is away, so that somebody else signs for them, and who comes back for a moment. */
export class Absence {
  readonly #world: World;
  /** The time in which nothing was delegated for sure: from the answer to the end until the next order. */
  #back = { from: 0, to: 0 };

  constructor(world: World) {
    this.#world = world;
  }

  /** Delegates; a worker that dies over it is asked again. */
  async leave(): Promise<void> {
    const [text, answer] = [`delegate ${CAST.alice} for 1 hour`, 'can approve and reject for you'];
    while (!(await this.#order(text, answer)));
  }

  /** Ends the delegation and kills a worker. What is asked then, the stand-in tries to sign in vain until the approver has left again. */
  async comeBack(): Promise<Errand> {
    const { workspace, workers, people } = this.#world;
    while (!(await this.#order('delegate stop', 'Ended.')));
    const from = Date.now();
    const [worker] = workers;
    await worker?.kill();
    const refusals = () =>
      workspace.ephemeralsFor(CAST.alice).filter(({ text }) => REFUSED.test(text)).length;
    const before = refusals();
    const errand = makeErrand(DEPUTED, CHANNELS.general);
    people.say(errand);
    await workspace.until(() => refusals() > before, {
      timeoutMs: REFUSED_WITHIN_MS,
      what: 'the refusal of a vote for somebody who is back',
    });
    this.#back = { from, to: Date.now() };
    await this.leave();
    return errand;
  }

  /** Holds the votes of the stand-in against the time in which nobody had delegated to them. */
  judge(rows: readonly AuditRow[]): { readonly violations: readonly Violation[]; readonly remark: string } {
    const { from, to } = this.#back;
    const votes = rows.filter(({ event, detail }) => event === 'voted' && FOR_BRUNO.test(detail));
    const unfounded = votes.filter(({ at }) => at > from && at < to);
    const violations: Violation[] = unfounded.map(({ subject }) => ({
      invariant: 2,
      what: `${subject} was signed for somebody who had taken it back`,
    }));
    if (votes.length === 0) violations.push({ invariant: 11, what: 'nothing was signed for somebody else' });
    return { violations, remark: `${votes.length} signed for somebody who was away` };
  }

  /** Types a command, and says whether it was answered so. */
  async #order(text: string, answer: string): Promise<boolean> {
    const { workspace } = this.#world;
    const answers = () =>
      workspace.ephemeralsFor(CAST.bruno).filter((told) => JSON.stringify(told).includes(answer)).length;
    const before = answers();
    return workspace
      .as(CAST.bruno)
      .command('/countersign', text, { channel: CHANNELS.general })
      .then(() => workspace.until(() => answers() > before, { timeoutMs: ANSWER_WITHIN_MS }))
      .catch(() => false);
  }
}
