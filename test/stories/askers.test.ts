import { expect, test } from 'vitest';
import { DEFAULT_CHANNELS, DEFAULT_USERS } from '../../playground/slack/default-cast.ts';
import { CAST, heardByModel, PLACES, startStory } from './support.ts';

const { guest, outsider, alice } = CAST;

const manifestWith = (askers: string) => `
slack: { display_information: { name: Countersign } }
agent: { instructions: Help., askers: ${askers} }
policies:
  default: { approvers: [${alice}], direct_messages: false }
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
  story.ask('hello', { as: outsider, channel: PLACES.partners });
  await story.noticeFor(outsider, /can't give me tasks/);
  await story.ask('hello', { as: guest }).shows(/Welcome\./);
});

/** Posts a message of another bot that mentions ours. */
function mentionAsBot({ workspace }: Awaited<ReturnType<typeof startStory>>, text: string) {
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
