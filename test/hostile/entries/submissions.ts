import { z } from 'zod';
import type { JsonObject } from '../../../playground/slack/state/types.ts';
import { CAST } from '../../stories/support.ts';
import { PAYLOAD } from '../corpus.ts';
import { type Attack, FOREIGN_TEAM, playClicks, postSigned, type Scene } from './clicks.ts';

/** A modal that stays open and explains why the decision was refused. */
const Refusal = z.object({ errors: z.record(z.string(), z.string()) });

/** A modal that somebody who may not sign has submitted is submitted again, as somebody of another team. */
const foreign = (
  name: string,
  modal: { readonly opens: string; readonly values: Readonly<Record<string, string>> },
  who: string,
): Attack => ({
  name,
  play: async (scene) => {
    const { stage } = scene;
    const genuine = await submitInVain(scene, modal);
    const answer = await postSigned(stage, {
      ...genuine,
      user: { id: who, name: who, username: who, team_id: FOREIGN_TEAM },
      view: { ...Object(genuine.view), id: 'V0FORGED01', root_view_id: 'V0FORGED01' },
    });
    const { errors } = Refusal.parse(JSON.parse(answer));
    const [notice] = Object.values(errors);
    return { outcome: `told: ${notice}` };
  },
});

const REJECTION = { opens: 'reject', values: { reason: PAYLOAD } };
const EDIT = { opens: 'edit', values: { 'field-0': `${PAYLOAD} changed` } };

export async function playSubmissions() {
  const attacks = [
    foreign('a rejection of another team', REJECTION, CAST.outsider),
    foreign('a rejection of another team with the id of an approver', REJECTION, CAST.alice),
    foreign('an edit of another team with the id of an approver', EDIT, CAST.alice),
  ];
  return { 'a modal submitted over HTTP': await playClicks(attacks, 'http') };
}

/** Lets the admin, who may not sign, submit a modal, and gives what Slack sent of it. */
async function submitInVain(
  { stage, card }: Scene,
  { opens, values }: Parameters<typeof foreign>[1],
): Promise<JsonObject> {
  const { workspace } = stage;
  const modal = await stage.open(CAST.admin, card, opens);
  Refusal.parse(await workspace.as(CAST.admin).submit(modal.id, values));
  const delivery = workspace.deliveries.findLast(({ payload }) => payload.type === 'view_submission');
  if (delivery === undefined) throw new Error('The submission was not delivered');
  return structuredClone(delivery.payload);
}
