import { expect, test } from 'vitest';
import { CAST } from '../support.ts';
import { startAccountStory } from './support.ts';

const { requester: remi } = CAST;
const whoami = { calls: [{ name: 'whoami', arguments: {} }] };
const NEVER = '{ require: never }';

test.each([['none'], ['client_secret_basic'], ['client_secret_post']] as const)(
  'where an authorization server only registers clients, one is registered for a connection, and renews it with %s',
  async (method) => {
    const replies = [whoami, { text: 'First.' }];
    const story = await startAccountStory({ replies, approval: NEVER, registers: [method] });
    const first = await story.startBot();
    const thread = story.ask('who am I there?');
    await story.connect(thread, 'remi-at-docs');
    await thread.shows(/First\./);
    expect(story.mcp.calls).toEqual([{ tool: 'whoami', as: 'remi-at-docs' }]);
    expect(story.oauth.registered).toHaveLength(1);
    await first.stop();

    // Another process knows the client by the record alone.
    const bot = await story.startBot();
    const [server] = bot.toolbox.requesterServers();
    if (server === undefined) throw new Error('there is no server');
    const { connections } = bot.context.accounts;
    const former = await connections.token(server, remi);
    expect(await connections.renew(server, remi, former)).not.toBe(former);
    expect(story.oauth.tokensBy('refresh_token')).toBe(1);
    expect(await connections.disconnect(server, remi, remi)).toBe(true);
    const revoked = story.oauth.seen.filter(({ path }) => path === '/token/revocation');
    expect(revoked).toHaveLength(1);
    expect(story.oauth.registered).toHaveLength(1);
  },
);

test('a client that its authorization server has forgotten is registered again when the person connects again', async () => {
  const replies = [
    whoami,
    { text: 'First.' },
    whoami,
    { text: 'It was not run.' },
    whoami,
    { text: 'Second.' },
  ];
  const story = await startAccountStory({ replies, approval: NEVER, registers: ['client_secret_basic'] });
  await story.startBot();
  const thread = story.ask('who am I there?');
  await story.connect(thread, 'remi-at-docs');
  await thread.shows(/First\./);
  await story.oauth.forgetRegistered();
  story.mcp.refuseKnownTokens();
  story.ask('and now?', { threadTs: thread.ts });
  await thread.shows(/It was not run\./);
  const again = story.ask('try again');
  await story.connect(again, 'remi-at-docs');
  await again.shows(/Second\./);
  expect(story.oauth.registered).toHaveLength(2);
  expect(story.mcp.calls).toHaveLength(2);
});
