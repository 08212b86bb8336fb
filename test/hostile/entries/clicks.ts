import { expect } from 'vitest';
import type { Forgery } from '../../../playground/slack/http/request-url.ts';
import { buildRequest, signRequest } from '../../../playground/slack/http/sign-request.ts';
import type { JsonObject } from '../../../playground/slack/state/types.ts';
import { CAST, PLACES } from '../../stories/support.ts';
import { PAYLOAD } from '../corpus.ts';
import { callsOf, requestIdIn, type Stage, startStage, type Thread } from '../stage.ts';

const TOOLS = '  notes: { module: ./test/hostile/fixtures/hostile-tools.ts, approval: { policy: two } }\n';
export const FOREIGN_TEAM = 'T0OUTSIDE2';

type Card = Awaited<ReturnType<Thread['shows']>>;
export interface Scene {
  readonly stage: Stage;
  readonly card: Card;
  /** A click on Approve as Slack would send it, for anybody. */
  readonly payload: (who: string, changes?: JsonObject) => JsonObject;
}
type Played = { readonly outcome: string; readonly votes?: readonly string[] };
export type Attack = { readonly name: string; readonly play: (scene: Scene) => Promise<Played> };

const reply = (row: number, { results }: { readonly results: readonly string[] }) =>
  results.length > 0
    ? { text: ['It was not done.'] }
    : callsOf('', { name: 'keep_note', arguments: { note: `${PAYLOAD} ${row}` } });

const forged = (forgery: Forgery): Attack => ({
  name: forgery,
  play: async ({ stage, payload }) => {
    const content = { type: 'interactive', payload: payload(CAST.alice) } as const;
    const { status } = await stage.workspace.sendForged(forgery, content);
    return { outcome: `refused with ${status}` };
  },
});

/** Posts an interaction to the bot as Slack does. */
export async function postSigned(stage: Stage, payload: JsonObject): Promise<string> {
  const url = `http://127.0.0.1:${stage.bot.port}/slack/events`;
  const request = buildRequest(url, { type: 'interactive', payload });
  const { headers, body } = signRequest(request, stage.slack.signingSecret);
  const response = await fetch(url, { method: 'POST', headers, body });
  return response.text();
}

/** Bodies that carry Slack's signature but that Slack would not send. */
const signed = (name: string, change: (scene: Scene) => JsonObject): Attack => ({
  name,
  play: async (scene) => {
    const { stage } = scene;
    const before = noticesOf(stage).length;
    await postSigned(stage, change(scene));
    const notice = await stage.workspace.until(() => noticesOf(stage).at(before), {
      what: `an answer to ${name}`,
    });
    return { outcome: `told: ${notice}` };
  },
});

export const POSTED_CLICKS: readonly Attack[] = [
  ...(['unsigned', 'wrong-secret', 'tampered', 'stale', 'future'] as const).map(forged),
  {
    name: 'replayed',
    play: async ({ stage, card }) => {
      const { workspace } = stage;
      await workspace.as(CAST.alice).click(card, 'approve');
      const delivery = workspace.deliveries.findLast(({ payload }) => isClickOn(payload, requestIdIn(card)));
      if (delivery === undefined) throw new Error('The click was not delivered');
      const { status } = await workspace.replay(delivery);
      return { outcome: `refused with ${status}`, votes: [CAST.alice] };
    },
  },
  {
    name: 'delivered twice',
    play: async ({ stage, card }) => {
      const { workspace } = stage;
      await workspace.as(CAST.alice).click(card, 'approve');
      const delivery = workspace.deliveries.findLast(({ payload }) => isClickOn(payload, requestIdIn(card)));
      if (delivery === undefined) throw new Error('The click was not delivered');
      await workspace.redeliver(delivery);
      return { outcome: 'counts once', votes: [CAST.alice] };
    },
  },
  {
    name: 'ssl_check with a click in it',
    play: async ({ stage, payload }) => {
      const body = new URLSearchParams({ ssl_check: '1', payload: JSON.stringify(payload(CAST.alice)) });
      const url = `http://127.0.0.1:${stage.bot.port}/slack/events`;
      const { status } = await fetch(url, { method: 'POST', body });
      return { outcome: `answered with ${status}, and not read` };
    },
  },
  signed('of another team', ({ payload }) =>
    payload(CAST.outsider, { user: { id: CAST.outsider, username: 'olga', team_id: FOREIGN_TEAM } }),
  ),
  signed('of another team with the id of an approver', ({ payload }) =>
    payload(CAST.alice, { user: { id: CAST.alice, username: 'alice', team_id: FOREIGN_TEAM } }),
  ),
  signed('from another channel', ({ payload, card }) =>
    payload(CAST.alice, {
      channel: { id: PLACES.partners, name: 'partners' },
      container: { type: 'message', message_ts: card.ts, channel_id: PLACES.partners, is_ephemeral: false },
    }),
  ),
];

/** Clicks that a stale screen or a custom client can make Slack send. */
const forced = (
  name: string,
  who: string,
  click: (scene: Scene) => Promise<unknown>,
  votes: readonly string[] = [],
): Attack => ({
  name,
  play: async (scene) => {
    const before = scene.stage.workspace.ephemeralsFor(who).length;
    await click(scene);
    const notice = await scene.stage.workspace.until(
      () => scene.stage.workspace.ephemeralsFor(who).at(before)?.text,
      { what: `an answer to ${name}` },
    );
    return { outcome: `told: ${notice}`, votes };
  },
});
const approve = (who: string, scene: Scene, options: { value?: string; blockId?: string } = {}) =>
  scene.stage.workspace.as(who).click(scene.card, 'approve', { force: true, ...options });

export const SOCKET_CLICKS: readonly Attack[] = [
  forced('by the requester', CAST.requester, (scene) => approve(CAST.requester, scene)),
  forced('by a guest', CAST.guest, (scene) => approve(CAST.guest, scene)),
  forced('by somebody of another company', CAST.outsider, (scene) => approve(CAST.outsider, scene)),
  forced('by a colleague who may not sign', CAST.admin, (scene) => approve(CAST.admin, scene)),
  forced(
    'a second time by the same person',
    CAST.alice,
    async (scene) => {
      await approve(CAST.alice, scene);
      await approve(CAST.alice, scene);
    },
    [CAST.alice],
  ),
  forced('on a request that is none', CAST.alice, (scene) =>
    approve(CAST.alice, scene, { value: `${PLACES.general}:1.1~nothing`, blockId: 'forged' }),
  ),
  forced('on a thread in place of a request', CAST.bruno, (scene) =>
    approve(CAST.bruno, scene, { value: '__proto__', blockId: 'forged' }),
  ),
  forced('of a choice that was never offered', CAST.bruno, ({ stage, card }) =>
    stage.workspace.as(CAST.bruno).click(card, 'choose:0', { force: true, value: requestIdIn(card) }),
  ),
  forced('of an answer to an approval', CAST.admin, ({ stage, card }) =>
    stage.workspace.as(CAST.admin).click(card, 'show-address', { force: true, value: requestIdIn(card) }),
  ),
  forced('on a card that is settled', CAST.alice, async (scene) => {
    await scene.stage.withdraw(scene.card);
    await approve(CAST.alice, scene);
  }),
  forced('on another card of the same channel', CAST.bruno, async ({ stage, card }) => {
    const value = requestIdIn(card);
    const other = await stage.begin(99).shows(/Approval needed: Keep note/);
    await stage.withdraw(other);
    await stage.workspace.as(CAST.bruno).click(other, 'ask-again', { force: true, value });
  }),
];

/** Plays clicks, each on a card of its own, and looks at the record for what they did. */
export async function playClicks(attacks: readonly Attack[], mode?: 'http') {
  const stage = await startStage({ tools: TOOLS, reply, ...(mode !== undefined && { mode }) });
  const outcomes = new Map<string, string>();
  for (const [row, attack] of attacks.entries()) {
    const card = await stage.begin(row).shows(/Approval needed: Keep note/);
    const request = await stage.recordOf(card);
    const before = noticesOf(stage).length;
    const payload = await payloadFor(stage, card);
    await stage.workspace.until(() => noticesOf(stage).at(before), {
      what: 'the refusal of a genuine click',
    });
    const { outcome, votes = [] } = await attack.play({ stage, card, payload });
    const loaded = await stage.bot.context.store.load(request.id);
    const after = loaded.outcome === 'found' ? loaded.request : undefined;
    expect([attack.name, after?.votes.map(({ who }) => who)]).toEqual([attack.name, votes]);
    expect(['pending', 'withdrawn']).toContain(after?.state);
    expect(after?.policy).toEqual(request.policy);
    outcomes.set(attack.name, outcome);
    if (after?.state === 'pending') await stage.withdraw(card);
  }
  expect(stage.effects()).toEqual([]);
  await stage.expectUnharmed();
  return outcomes;
}

export async function playPostedClicks() {
  return { 'a click over HTTP': await playClicks(POSTED_CLICKS, 'http') };
}

export async function playSocketClicks() {
  return { 'a click over a socket': await playClicks(SOCKET_CLICKS) };
}

/** Everything that anybody was told in private, oldest first. */
function noticesOf({ workspace }: Stage): string[] {
  return workspace.state.ephemerals.map(({ text }) => text);
}

function isClickOn({ actions }: JsonObject, requestId: string): boolean {
  return JSON.stringify(actions ?? []).includes(requestId);
}

/** A click of somebody who may not sign, as Slack sent it; who clicked is changed, and what else is asked for. */
async function payloadFor({ workspace }: Stage, card: Card): Promise<Scene['payload']> {
  await workspace.as(CAST.admin).click(card, 'approve');
  const genuine = workspace.deliveries.findLast(({ payload }) => isClickOn(payload, requestIdIn(card)));
  const { team } = workspace.state;
  return (who, changes = {}) => ({
    ...structuredClone(genuine?.payload),
    user: { id: who, username: who, team_id: team.id },
    ...changes,
  });
}
