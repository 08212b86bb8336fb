import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/agent/json.ts';
import { nonEmpty } from '../support/non-empty.ts';
import { CAST, PLACES, type StoryOptions, startStory } from './support.ts';

const refund = { name: 'refund_order', arguments: { orderId: 'A-1001', amount: 12_000 } };
const manifest = `
slack: { display_information: { name: Countersign } }
agent: { instructions: Help. }
policies:
  default: { approvers: [${CAST.alice}, ${CAST.bruno}], notify: { direct_messages: true } }
tools:
  refund_order: { module: ./examples/shop/tools/refund-order.ts, approval: { policy: default } }
`;

/** Starts a story whose bot is connected in one way, and keeps its log. */
async function startConnected(way: 'sockets' | 'HTTP', options: StoryOptions) {
  const lines: string[] = [];
  const logger = pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) });
  const story = await startStory({
    ...options,
    withoutBot: true,
    ...(way === 'HTTP' && { slack: { app: { socketMode: false } } }),
  });
  const { slack, setup } = story;
  const { botToken, signingSecret, apiUrl } = slack;
  const settings =
    way === 'HTTP'
      ? { ...setup.settings, slack: { mode: 'http' as const, botToken, signingSecret, apiUrl } }
      : setup.settings;
  const bot = await story.startOwnBot({ settings, logger });
  if (way === 'HTTP') await story.workspace.changeRequestUrl(`http://127.0.0.1:${bot.port}/slack/events`);
  return { ...story, linesWith: (text: string) => lines.filter((line) => line.includes(text)) };
}

describe.each(['sockets', 'HTTP'] as const)('over %s', (way) => {
  test('an interaction that is not ours is acknowledged, with one line in the log', async () => {
    const story = await startConnected(way, {});
    const payload = {
      type: 'block_actions',
      team: { id: story.workspace.state.team.id, domain: 'local' },
      user: { id: CAST.alice, team_id: story.workspace.state.team.id },
      container: { type: 'message', message_ts: '1.1', channel_id: PLACES.general },
      actions: [{ type: 'button', action_id: 'somebody_elses', block_id: 'b', action_ts: '1.2' }],
    };
    expect(await story.workspace.deliver('interactive', payload)).toMatchObject({ kind: 'acknowledged' });
    expect(story.linesWith('payload without a listener')).toHaveLength(1);
  });

  test('app_rate_limited is acknowledged, with a warning', async () => {
    const story = await startConnected(way, {});
    const payload = {
      type: 'app_rate_limited',
      team_id: story.workspace.state.team.id,
      api_app_id: story.workspace.state.app.id,
      minute_rate_limited: 1_518_467_820,
    };
    expect(await story.workspace.deliver('events_api', payload)).toMatchObject({ kind: 'acknowledged' });
    expect(story.linesWith('Slack drops events')).toEqual([expect.stringContaining('"level":40')]);
  });

  test.each<[JsonObject, 'acknowledged' | 'failed']>([
    [{ type: 'event_callback' }, 'failed'],
    [{ type: '', event_id: 'Ev1' }, 'acknowledged'],
    [{}, 'failed'],
  ])('a payload without an event ends nothing, and is not sent again: %j', async (payload, overHttp) => {
    const story = await startConnected(way, { replies: [{ text: 'Still here.' }] });
    const answer = await story.workspace.deliver('events_api', payload);
    expect(answer.kind).toBe(way === 'HTTP' ? overHttp : 'acknowledged');
    await story.ask('are you there?').shows(/Still here\./);
  });

  test('a Home that Slack refuses is acknowledged, and not tried again', async () => {
    const story = await startConnected(way, {});
    const event = { type: 'app_home_opened', user: 'U0NOBODY99', channel: 'D0NOBODY99', tab: 'home' };
    const { team, app } = story.workspace.state;
    const payload = { type: 'event_callback', team_id: team.id, api_app_id: app.id, event_id: 'Ev1', event };
    expect(await story.workspace.deliver('events_api', payload)).toMatchObject({ kind: 'acknowledged' });
    expect(story.linesWith('Home not shown')).toHaveLength(1);
  });

  test('a click without response_url is answered in its thread', async () => {
    const story = await startConnected(way, { manifest, replies: [{ calls: [refund] }] });
    const thread = story.ask('refund order A-1001');
    await thread.click(CAST.requester, /Approval needed/, 'approve');
    await story.noticeFor(CAST.requester, /./);
    const clicked = story.workspace.deliveries.findLast(({ type }) => type === 'interactive');
    const { response_url: _left, ...payload } = clicked?.payload ?? {};
    await story.workspace.deliver('interactive', payload);
    await story.workspace.until(() => story.workspace.ephemeralsFor(CAST.requester).length === 2);
    for (const { thread_ts } of nonEmpty(story.workspace.ephemeralsFor(CAST.requester)))
      expect(thread_ts).toBe(thread.ts);
  });

  test('a person who cannot be written to is tried once, and gets no card afterwards', async () => {
    const story = await startConnected(way, {
      manifest,
      replies: [{ calls: [refund] }, { text: 'Refunded.' }],
    });
    const isForBruno = ({ users, channel }: { users?: unknown; channel?: unknown }) =>
      users === CAST.bruno || channel === CAST.bruno;
    for (const method of ['conversations.open', 'chat.postMessage'])
      story.workspace.fail(method, { kind: 'status', status: 404 }, { calls: 99, when: isForBruno });
    const thread = story.ask('refund order A-1001');
    await story.directly(CAST.alice).shows(/Approval needed/);
    await thread.click(CAST.alice, /Approval needed/, 'approve');
    await thread.shows(/Refunded\./);
    await story.directly(CAST.alice).shows(/Done: /);
    await story.deliveredAll();
    expect(story.workspace.calls.filter(({ arguments: given }) => isForBruno(given))).toHaveLength(1);
    expect(story.workspace.messagesIn(story.workspace.directMessages(CAST.bruno))).toEqual([]);
  });

  test('the requester is told directly, once, of a reply that Slack refuses', async () => {
    const story = await startConnected(way, { manifest, replies: [{ text: 'many words '.repeat(2_000) }] });
    for (const method of ['chat.postMessage', 'chat.startStream'])
      story.workspace.fail(
        method,
        { kind: 'refuse', error: 'restricted_action' },
        { calls: 99, when: ({ channel }) => channel === PLACES.general },
      );
    story.ask('tell me everything');
    await story
      .directly(CAST.requester)
      .shows(/didn't let me post my reply in <#C0GENERAL1> \(restricted_action\)/);
    await story.deliveredAll();
    expect(story.workspace.messagesIn(story.workspace.directMessages(CAST.requester))).toHaveLength(1);
  });
});
