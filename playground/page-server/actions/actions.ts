import type { Answer, Verb, Verbs } from '../../protocol.ts';
import type { InteractionOutcome } from '../../slack/delivery/delivery.ts';
import { NotPossible } from '../../slack/people/not-possible.ts';
import type { Person } from '../../slack/people/person.ts';
import type { WorkspaceState } from '../../slack/state/workspace-state.ts';
import { Refused } from '../http/read-request.ts';
import { placeName, type Reads } from '../read-positions.ts';
import { VERB_SCHEMAS } from './action-schemas.ts';

/** Does what a page asked for as the person whose client it is; what they could not do in Slack is told in one sentence. */
export async function carryOut<V extends Verb>(verb: V, body: unknown, doing: Doing): Promise<Answer> {
  const parsed = VERB_SCHEMAS[verb].safeParse(body);
  if (!parsed.success) {
    const problems = parsed.error.issues.map(({ path, message }) => [...path, message].join(': '));
    throw new Refused(400, `This cannot be understood as ${verb}: ${problems.join('; ')}.`);
  }
  try {
    return await DEEDS[verb](doing, parsed.data);
  } catch (error) {
    if (!(error instanceof NotPossible)) throw error;
    return { ok: false, error: error.shown };
  }
}

/** Who does something, and what it is done to. */
export interface Doing {
  readonly person: Person;
  readonly state: WorkspaceState;
  readonly reads: Reads;
}

type Deed<V extends Verb> = (doing: Doing, body: Verbs[V]) => Answer | Promise<Answer>;

const DONE: Answer = { ok: true };

/** How each verb is carried out; what the person could not do in Slack throws. */
export const DEEDS: { readonly [V in Verb]: Deed<V> } = {
  say: ({ person, reads }, { channel, text, threadTs }) => {
    const { ts } = person.say(channel, text, threadTs === undefined ? {} : { threadTs });
    // Whoever writes in a place has it in front of them.
    reads.note(person.id, placeName(channel, threadTs), ts);
    return { ok: true, ts };
  },
  edit: ({ person }, { text, ...message }) => after(() => person.edit(message, text)),
  delete: ({ person }, message) => after(() => person.delete(message)),
  react: ({ person }, { name, ...message }) => after(() => person.react(message, name)),
  unreact: ({ person }, { name, ...message }) => after(() => person.unreact(message, name)),
  join: ({ person }, { channel }) => after(() => person.join(channel)),
  leave: ({ person }, { channel }) => after(() => person.leave(channel)),
  click: async ({ person, state }, { target, actionId, ...options }) =>
    answerTo(state, await person.click(target, actionId, options)),
  search: async ({ person }, { target, actionId, typed }) => ({
    ok: true,
    options: await person.search(target, actionId, typed),
  }),
  submit,
  close: async ({ person }, { viewId }) => {
    await person.close(viewId);
    return DONE;
  },
  openHome: ({ person }, { tab }) => after(() => person.openHome(tab)),
  command: async ({ person, state }, { command, text, channel }) =>
    answerTo(state, await person.command(command, text, { channel })),
  stop: ({ person }, thread) => after(() => person.stop(thread)),
  read: ({ person, reads }, { channel, threadTs, ts }) => {
    person.requireSight(channel);
    reads.note(person.id, placeName(channel, threadTs), ts);
    return DONE;
  },
  dismiss: ({ person }, message) => after(() => person.dismiss(message)),
};

async function submit({ person, state }: Doing, { viewId, values }: Verbs['submit']): Promise<Answer> {
  try {
    const outcome = await person.submit(viewId, values);
    switch (outcome.kind) {
      case 'errors':
        return { ok: true, errors: outcome.errors };
      case 'failed':
        return { ok: false, error: sayNoAnswer(state) };
      default:
        return DONE;
    }
  } catch (error) {
    // What Slack's own client finds wrong in a field stands under that field too.
    if (!(error instanceof NotPossible) || error.blockId === undefined) throw error;
    return { ok: true, errors: { [error.blockId]: error.shown } };
  }
}

function after(deed: () => void): Answer {
  deed();
  return DONE;
}

function answerTo(state: WorkspaceState, outcome: InteractionOutcome): Answer {
  return outcome.kind === 'acknowledged' ? DONE : { ok: false, error: sayNoAnswer(state) };
}

function sayNoAnswer({ app }: WorkspaceState): string {
  return `${app.name} did not answer in time. Try again.`;
}
