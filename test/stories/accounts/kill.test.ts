import { expect, test } from 'vitest';
import { accountsIn } from '../../../src/store/documents/accounts.ts';
import { openRedisStore } from '../../../src/store/redis/redis-store.ts';
import { Sealer } from '../../../src/tools/mcp/auth/connections.ts';
import { Grant } from '../../../src/tools/mcp/auth/grant.ts';
import { PATIENCE_MS } from '../../support/patience.ts';
import { startDoomedBot } from '../doomed-bot.ts';
import { CAST } from '../support.ts';
import { Browser, codeIn, KEY, startAccountStory } from './support.ts';

const { requester: remi, alice } = CAST;
const whoami = { calls: [{ name: 'whoami', arguments: {} }] };
const MORTAL = {
  timing: { leaseMs: 1_500, renewMs: 200, claimMs: 1_500 },
  sweep: { everyMs: 100, overdueMs: 0 },
};
/** The account of the requester as it is stored. */
async function storedGrant({ redis, prefix }: Awaited<ReturnType<typeof startAccountStory>>): Promise<Grant> {
  const stored = await accountsIn(openRedisStore({ client: redis, prefix })).readConnection('docs', remi);
  const sealer = Sealer.read(KEY);
  if (stored === undefined || typeof sealer === 'string') throw new Error('there is no account');
  return Grant.parse(JSON.parse(sealer.open(`connection|docs|${remi}`, stored.sealed) ?? 'null'));
}

const STEPS = ['link made', 'code shown', 'token stored'] as const;

test.each(STEPS)(
  'a bot that is killed after the step "%s" leaves the connection and the call to the next one',
  async (step) => {
    const story = await startAccountStory({ replies: [whoami, { text: 'Done.' }], ...MORTAL });
    const doomed = await startDoomedBot(story, story.manifest, story.environment);
    const killAfter = async (done: (typeof STEPS)[number]) => {
      if (done !== step) return;
      await story.allReceived();
      await doomed.kill();
      await story.startBot();
    };
    const thread = story.ask('who am I there?');
    const { modal, link } = await story.openModal(thread);
    await killAfter('link made');
    const { text } = await new Browser('remi-at-docs').visit(link);
    await killAfter('code shown');
    expect(await story.workspace.as(remi).submit(modal.id, { code: codeIn(text) })).toEqual({
      kind: 'cleared',
    });
    await killAfter('token stored');
    // Killed before the card was answered, its button finds the account that is there.
    const card = await thread.shows(/Approval needed|Needs an account/);
    if (card.text.includes('Needs an account') && step === 'token stored')
      await thread.click(remi, /Needs an account|Answered/, 'connect').catch(() => {});
    await thread.click(alice, /Approval needed/, 'approve');
    await thread.shows(/Done\./);
    expect(story.mcp.calls).toEqual([{ tool: 'whoami', as: 'remi-at-docs' }]);
    expect(story.oauth.tokensBy('authorization_code')).toBe(1);
  },
);

test.each(['before', 'after'] as const)(
  'a bot that is killed while a token is renewed, %s the issuer took the request, has not started the call: nobody is asked about it',
  async (when) => {
    const more = when === 'before' ? [{ text: 'Second.' }] : [{ text: 'It was not run.' }, whoami];
    const story = await startAccountStory({
      replies: [whoami, { text: 'First.' }, whoami, whoami, ...more],
      approval: '{ require: never }',
      ...MORTAL,
    });
    story.oauth.setLifetime(2);
    const doomed = await startDoomedBot(story, story.manifest, story.environment);
    const thread = story.ask('who am I there?');
    await story.connect(thread, 'remi-at-docs');
    await thread.shows(/First\./);
    const { renewAt } = await storedGrant(story);
    await expect.poll(() => Date.now(), { timeout: PATIENCE_MS }).toBeGreaterThan(renewAt);
    story.oauth.hold(when);
    story.ask('and now?', { threadTs: thread.ts });
    await expect.poll(() => story.oauth.held, { timeout: PATIENCE_MS }).toBeGreaterThan(0);
    await doomed.kill();
    expect(story.mcp.calls).toHaveLength(1);
    story.oauth.hold(undefined);
    story.oauth.setLifetime(3600);
    await story.startBot();
    // The lock of the dead process ends by itself.
    await thread.shows(when === 'before' ? /Second\./ : /It was not run\./);
    expect(JSON.stringify(story.repliesIn(thread))).not.toContain('Outcome unknown');
    expect(story.oauth.tokensBy('authorization_code')).toBe(1);
    expect(story.mcp.calls).toHaveLength(when === 'before' ? 2 : 1);
    // The issuer has taken the refresh token, and its answer was lost: the person connects again.
    if (when === 'after') await story.ask('once more').shows(/Needs an account/);
  },
);
