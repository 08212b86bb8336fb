import type { Actor } from '../../store/port/store.ts';
import type { BotContext } from '../context.ts';
import type { Click } from './click.ts';
import { mayDecide } from './may-decide.ts';

/** A person with the evidence of the check, and the reason if they may not decide. */
export interface Authorization {
  readonly actor: Actor;
  readonly problem: string | undefined;
}

/** Checks in Slack whether the person who clicked is one of the principals now. */
export async function authorize(
  { directory }: Pick<BotContext, 'directory'>,
  { who, id }: Click,
  principals: readonly string[],
): Promise<Authorization> {
  const permission = await mayDecide(directory, who, principals);
  const { eligible } = permission;
  return {
    actor: { who, eligible, evidence: { click: id, ...permission.evidence } },
    problem: permission.eligible ? undefined : permission.why,
  };
}
