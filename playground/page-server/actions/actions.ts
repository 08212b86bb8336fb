import type { ActionName, ActionResult, Actions } from '../../protocol.ts';
import type { InteractionOutcome } from '../../slack/delivery/delivery.ts';
import { NotPossible } from '../../slack/people/not-possible.ts';
import type { Person } from '../../slack/people/person.ts';
import type { WorkspaceState } from '../../slack/state/workspace-state.ts';
import { HttpError } from '../http/read-request.ts';
import { type ReadPositions, timelineKey } from '../read-positions.ts';
import { ACTION_SCHEMAS } from './action-schemas.ts';

/** Performs an action as the client's person; an action that is impossible in Slack is an error message, not a throw. */
export async function performAction<N extends ActionName>(
  name: N,
  body: unknown,
  context: ActionContext,
): Promise<ActionResult> {
  const parsed = ACTION_SCHEMAS[name].safeParse(body);
  if (!parsed.success) {
    const problems = parsed.error.issues.map(({ path, message }) => [...path, message].join(': '));
    throw new HttpError(400, `Invalid ${name} request: ${problems.join('; ')}.`);
  }
  try {
    return await ACTIONS[name](context, parsed.data);
  } catch (error) {
    if (!(error instanceof NotPossible)) throw error;
    return { ok: false, error: error.shown };
  }
}

/** The acting person and the state that actions change. */
export interface ActionContext {
  readonly person: Person;
  readonly state: WorkspaceState;
  readonly readPositions: ReadPositions;
}

type Action<N extends ActionName> = (
  context: ActionContext,
  body: Actions[N],
) => ActionResult | Promise<ActionResult>;

const DONE: ActionResult = { ok: true };

/** Implementation of each action; throws `NotPossible` for an action that is impossible in Slack. */
const ACTIONS: { readonly [N in ActionName]: Action<N> } = {
  send: ({ person, readPositions }, { channel, text, threadTs, files = [] }) => {
    const attached = files.map(({ name, data }) => ({ name, bytes: Buffer.from(data, 'base64') }));
    const { ts } = person.send(channel, text, {
      ...(threadTs !== undefined && { threadTs }),
      ...(attached.length > 0 && { files: attached }),
    });
    // The author has the conversation open, so it is read up to this message.
    readPositions.advance(person.id, timelineKey(channel, threadTs), ts);
    return { ok: true, ts };
  },
  shortcut: async ({ person, state }, { callbackId, ...message }) =>
    resultOf(state, await person.shortcut(message, callbackId)),
  edit: ({ person }, { text, ...message }) => perform(() => person.edit(message, text)),
  delete: ({ person }, message) => perform(() => person.delete(message)),
  react: ({ person }, { name, ...message }) => perform(() => person.react(message, name)),
  unreact: ({ person }, { name, ...message }) => perform(() => person.unreact(message, name)),
  join: ({ person }, { channel }) => perform(() => person.join(channel)),
  leave: ({ person }, { channel }) => perform(() => person.leave(channel)),
  click: async ({ person, state }, { target, actionId, ...options }) =>
    resultOf(state, await person.click(target, actionId, options)),
  search: async ({ person }, { target, actionId, typed }) => ({
    ok: true,
    options: await person.search(target, actionId, typed),
  }),
  submit,
  close: async ({ person }, { viewId }) => {
    await person.close(viewId);
    return DONE;
  },
  openHome: ({ person }, { tab }) => perform(() => person.openHome(tab)),
  command: async ({ person, state }, { command, text, channel }) =>
    resultOf(state, await person.command(command, text, { channel })),
  stop: ({ person }, thread) => perform(() => person.stop(thread)),
  read: ({ person, readPositions }, { channel, threadTs, ts }) => {
    person.requireVisibleChannel(channel);
    readPositions.advance(person.id, timelineKey(channel, threadTs), ts);
    return DONE;
  },
  dismiss: ({ person }, message) => perform(() => person.dismiss(message)),
};

async function submit(
  { person, state }: ActionContext,
  { viewId, values }: Actions['submit'],
): Promise<ActionResult> {
  try {
    const outcome = await person.submit(viewId, values);
    switch (outcome.kind) {
      case 'errors':
        return { ok: true, errors: outcome.errors };
      case 'failed':
        return { ok: false, error: noAnswerText(state) };
      default:
        return DONE;
    }
  } catch (error) {
    // Errors found by Slack's own client are shown under their field too.
    if (!(error instanceof NotPossible) || error.blockId === undefined) throw error;
    return { ok: true, errors: { [error.blockId]: error.shown } };
  }
}

function perform(action: () => void): ActionResult {
  action();
  return DONE;
}

function resultOf(state: WorkspaceState, outcome: InteractionOutcome): ActionResult {
  return outcome.kind === 'acknowledged' ? DONE : { ok: false, error: noAnswerText(state) };
}

function noAnswerText({ app }: WorkspaceState): string {
  return `${app.name} did not answer in time. Try again.`;
}
