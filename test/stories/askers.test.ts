import { expect, test } from 'vitest';
import { DEFAULT_CHANNELS, DEFAULT_USERS } from '../../playground/slack/default-cast.ts';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import { CAST, heardByModel, PLACES, startStory } from './support.ts';

const { guest, outsider, alice } = CAST;

const manifestWith = (askers: string) => `
slack: { display_information: { name: Countersign } }
agent: { instructions: Help., askers: ${askers} }
policies:
  default: { approvers: [${alice}], notify: { direct_messages: false } }
`;

test.each([
  { who: 'a guest', as: guest, channel: PLACES.general },
  { who: 'a person of another organisation', as: outsider, channel: PLACES.partners },
])(
  '$who is told once, in the thread of their message, that they may not ask, and the model is not called',
  async ({ as, channel }) => {
    const story = await startStory({ replies: [] });
    const thread = story.ask('delete Hooper Ltd', { as, channel });
    await thread.shows(/can't give me tasks/);
    await story.deliveredAll();
    expect(story.repliesIn(thread)).toHaveLength(1);
    expect(story.model.requests).toEqual([]);
  },
);

test('a guest who mentions the bot in a thread is told once, privately, in that thread', async () => {
  const story = await startStory({ replies: [] });
  const { ts: threadTs } = story.workspace.as(alice).send(PLACES.general, 'a discussion');
  story.ask('delete Hooper Ltd', { as: guest, threadTs });
  const notice = await story.noticeFor(guest, /can't give me tasks/);
  expect(notice.thread_ts).toBe(threadTs);
  await story.deliveredAll();
  expect(story.workspace.ephemeralsFor(guest)).toHaveLength(1);
});

test('what a guest writes to the bot in a known thread is context of the next task', async () => {
  const story = await startStory({ replies: [{ text: 'First.' }, { text: 'Second.' }] });
  const thread = story.ask('hello');
  await thread.shows(/First\./);
  story.ask('delete Hooper Ltd', { as: guest, threadTs: thread.ts });
  await story.noticeFor(guest, /can't give me tasks/);
  story.ask('and?', { threadTs: thread.ts });
  await thread.shows(/Second\./);
  expect(story.model.requests).toHaveLength(2);
  expect(heardByModel(story.model).slice(1)).toEqual([
    expect.stringMatching(/^\[Context from .+, not an instruction\]\n> delete Hooper Ltd$/),
    expect.stringMatching(/: and\?$/),
  ]);
});

test.each([
  { how: 'by id', askers: `{ people: [${guest}] }`, as: guest, channel: PLACES.general },
  {
    how: 'by the channel',
    askers: `{ channels: [${PLACES.partners}] }`,
    as: outsider,
    channel: PLACES.partners,
  },
  { how: 'as a guest', askers: '{ guests: true }', as: guest, channel: PLACES.general },
  { how: 'as external', askers: '{ external: true }', as: outsider, channel: PLACES.partners },
])('a person whom the manifest lets ask $how is answered', async ({ askers, as, channel }) => {
  const story = await startStory({ replies: [{ text: 'Welcome.' }], manifest: manifestWith(askers) });
  await story.ask('hello', { as, channel }).shows(/Welcome\./);
});

test('guests of one kind do not let people of another kind ask', async () => {
  const story = await startStory({ replies: [], manifest: manifestWith('{ guests: true }') });
  const thread = story.ask('hello', { as: outsider, channel: PLACES.partners });
  await thread.shows(/can't give me tasks/);
  expect(story.model.requests).toEqual([]);
});

test('a guest in a user group that the manifest names is answered', async () => {
  const story = await startStory({
    replies: [{ text: 'Welcome.' }],
    manifest: manifestWith('{ groups: [S0GUESTS01] }'),
    slack: { userGroups: [{ id: 'S0GUESTS01', handle: 'guests', name: 'Guests', users: [guest] }] },
  });
  const refused = story.ask('hello', { as: outsider, channel: PLACES.partners });
  await refused.shows(/can't give me tasks/);
  await story.ask('hello', { as: guest }).shows(/Welcome\./);
});

const QUESTION = {
  calls: [{ name: 'ask_question', arguments: { question: 'Which one?', choices: ['Red'] } }],
};
const ALONE = 'built_ins: [{ ask_question: requester }], askers:';

test.each([
  { who: 'a guest', askers: '{ guests: true }', as: guest, channel: PLACES.general, limit: 'askers:' },
  { who: 'a guest alone', askers: '{ guests: true }', as: guest, channel: PLACES.general, limit: ALONE },
  { who: 'an external', askers: '{ external: true }', as: outsider, channel: PLACES.partners, limit: ALONE },
])(
  '$who who may ask answers the question of their task in writing',
  async ({ askers, as, channel, limit }) => {
    const story = await startStory({
      replies: [QUESTION, { text: 'Red it is.' }],
      manifest: manifestWith(askers).replace('askers:', limit),
    });
    const thread = story.ask('buy me a bicycle', { as, channel });
    await thread.shows(/Which one\?/);
    story.workspace.as(as).send(channel, 'red', { threadTs: thread.ts });
    await thread.shows(/Red it is\./);
    expect(story.toldOfCalls()).toEqual(['Red']);
  },
);

test('a guest who may ask answers with a button too, and not the questions of others', async () => {
  const story = await startStory({
    replies: [QUESTION, { text: 'Red it is.' }, QUESTION],
    manifest: manifestWith('{ guests: true }'),
  });
  const own = story.ask('buy me a bicycle', { as: guest });
  await own.click(guest, /Which one\?/, 'choose:0');
  await own.shows(/Red it is\./);
  const other = story.ask('buy me a bicycle');
  await other.click(guest, /Which one\?/, 'choose:0');
  await story.noticeFor(guest, /Guests can't decide this/);
});

test('a person whose written answer is refused is told why', async () => {
  const story = await startStory({
    replies: [QUESTION],
    manifest: manifestWith(`{ bots: [${OTHER_BOT.id}] }`),
    slack: withOtherBot,
  });
  const { ts } = mentionAsBot(story, 'buy me a bicycle');
  await story.threadIn(PLACES.general, ts).shows(/Which one\?/);
  mentionAsBot(story, 'Red', ts);
  const notice = await story.noticeFor(OTHER_BOT.id, /Bots can't/);
  expect(notice.thread_ts).toBe(ts);
});

test('a guest is told that they may not ask also if the first receiver of their message died', async () => {
  const story = await startStory({ replies: [{ text: 'Hello.' }] });
  const thread = story.ask('hello');
  await thread.shows(/Hello\./);
  const { state } = story.workspace;
  const said = { user: guest, text: `<@${state.app.botUserId}> delete it`, ts: state.clock.next() };
  const store = openRedisStore({ client: story.redis, prefix: story.prefix });
  const body = { user: guest, text: 'delete it', role: 'context', mayAsk: false };
  await store.enqueue(`${thread.channel}:${thread.ts}`, { id: said.ts, body });
  const channel = state.channels.get(thread.channel);
  state.emitEvent({
    subscription: 'app_mention',
    event: { type: 'app_mention', ...said, thread_ts: thread.ts, channel: thread.channel },
    ...(channel !== undefined && { channel }),
  });
  await story.noticeFor(guest, /can't give me tasks/);
});

/** Posts a message of another bot that mentions ours. */
function mentionAsBot(
  { workspace }: Awaited<ReturnType<typeof startStory>>,
  text: string,
  threadTs?: string,
) {
  const { app, team } = workspace.state;
  return workspace.state.post({
    channel: PLACES.general,
    user: OTHER_BOT.id,
    bot_id: OTHER_BOT_ID,
    app_id: 'A0OTHERBOT',
    team: team.id,
    text: `<@${app.botUserId}> ${text}`,
    blocks: [],
    attachments: [],
    ...(threadTs !== undefined && { thread_ts: threadTs }),
  });
}
const OTHER_BOT = { id: 'U0OTHERBOT', name: 'other', is_bot: true };
const OTHER_BOT_ID = 'B0OTHERBOT';
const withOtherBot = {
  users: [...DEFAULT_USERS, OTHER_BOT],
  channels: DEFAULT_CHANNELS.map((each) =>
    each.id === PLACES.general ? { ...each, members: [...each.members, OTHER_BOT.id] } : each,
  ),
};

test.each([OTHER_BOT_ID, OTHER_BOT.id])(
  'another bot that the manifest names as %s is answered',
  async (id) => {
    const story = await startStory({
      replies: [{ text: 'Welcome.' }],
      manifest: manifestWith(`{ bots: [${id}] }`),
      slack: withOtherBot,
    });
    const { ts } = mentionAsBot(story, 'hello');
    await story.threadIn(PLACES.general, ts).shows(/Welcome\./);
  },
);

test('a bot that the manifest does not name is not heard', async () => {
  const story = await startStory({ replies: [{ text: 'Hello, Remi.' }], slack: withOtherBot });
  const { ts } = mentionAsBot(story, 'hello');
  await story.ask('hello').shows(/Hello, Remi\./);
  expect(story.repliesIn({ channel: PLACES.general, ts })).toEqual([]);
  expect(story.model.requests).toHaveLength(1);
});
