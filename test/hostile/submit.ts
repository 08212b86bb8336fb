import { setTimeout as sleep } from 'node:timers/promises';
import { NotPossible } from '../../playground/slack/people/not-possible.ts';
import type { Stage } from './stage.ts';

/** Submits a modal as a person would; where it stays open it is closed again, unless somebody goes on with it. */
export async function submit(
  { workspace }: Stage,
  who: string,
  viewId: string,
  values: Readonly<Record<string, string>>,
  { stays = false } = {},
): Promise<string> {
  const person = workspace.as(who);
  const giveUp = async (why: string) => {
    if (!stays) await person.close(viewId);
    return why;
  };
  try {
    let end = await person.submit(viewId, values);
    // On a busy machine the bot may be late, or connect again; the modal stays open, and a person submits again a moment later.
    for (let attempt = 1; end.kind === 'failed' && attempt < 5; attempt += 1) {
      await sleep(1_000);
      end = await person.submit(viewId, values);
    }
    if (end.kind === 'cleared') return 'taken';
    if (end.kind === 'failed') return `failed: ${end.reason}`;
    if (end.kind !== 'errors') return end.kind;
    // The field is named first.
    const error = (Object.values(end.errors)[0] ?? '').replace(/^Data: /, '');
    return giveUp(`refused: ${/is not a number|This is not JSON|must be \w+/.exec(error)?.[0] ?? error}`);
  } catch (error) {
    if (!(error instanceof NotPossible)) throw error;
    return giveUp('Slack does not take it');
  }
}
