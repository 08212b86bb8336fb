import { type WebAPICallResult, WebClient } from '@slack/web-api';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { CHANNELS } from '../../../playground/slack/default-cast.ts';
import { Directory } from '../../../src/bot/slack/directory.ts';
import { connectionFor, slackForTest, socketSettings } from './support.ts';

/** A Slack in which everybody has the current name, and that can be away. */
class NamingSlack extends WebClient {
  name = 'ann';
  isAway = false;
  looks = 0;

  override async apiCall(method: string): Promise<WebAPICallResult> {
    if (method === 'auth.test') return { ok: true, team_id: 'T1' } as WebAPICallResult;
    this.looks += 1;
    if (this.isAway) throw new Error('Slack is away');
    return { ok: true, user: { name: this.name, team_id: 'T1' } } as WebAPICallResult;
  }
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
});

function open() {
  const slack = new NamingSlack('xoxb-test');
  const directory = new Directory(slack);
  const nameIn = async (from: Directory) => (await from.member('U1')).name;
  return { slack, directory, nameIn };
}

test('an answer counts for thirty seconds, and for nothing in a fresh directory', async () => {
  const { slack, directory, nameIn } = open();
  await nameIn(directory);
  slack.name = 'bea';
  vi.advanceTimersByTime(29_999);
  expect(await nameIn(directory)).toBe('ann');
  expect(await nameIn(directory.fresh())).toBe('bea');
  vi.advanceTimersByTime(1);
  expect(await nameIn(directory)).toBe('bea');
});

test('a relaxed look-up answers at once with an older answer, and looks it up again beside that', async () => {
  const { slack, directory, nameIn } = open();
  await nameIn(directory);
  slack.name = 'bea';
  vi.advanceTimersByTime(60_000);
  expect(await nameIn(directory.relaxed())).toBe('ann');
  await vi.waitFor(async () => expect(await nameIn(directory.relaxed())).toBe('bea'));
  expect(slack.looks).toBe(2);
});

test('a decision never uses an older answer, also while that is looked up again', async () => {
  const { slack, directory, nameIn } = open();
  await nameIn(directory);
  slack.name = 'bea';
  vi.advanceTimersByTime(60_000);
  const relaxed = nameIn(directory.relaxed());
  expect(await nameIn(directory)).toBe('bea');
  expect(await relaxed).toBe('ann');
});

test('an older answer counts for ten minutes at most, even if Slack is away', async () => {
  const { slack, directory, nameIn } = open();
  await nameIn(directory);
  slack.isAway = true;
  vi.advanceTimersByTime(600_000);
  expect(await nameIn(directory.relaxed())).toBe('ann');
  vi.advanceTimersByTime(30_000);
  await expect(nameIn(directory.relaxed())).rejects.toThrow('Slack is away');
});

test('the cache keeps a bounded number of people, the newest ones', async () => {
  const { slack, directory } = open();
  for (let i = 0; i < 1_500; i += 1) await directory.member(`U${i}`);
  const before = slack.looks;
  await directory.member('U1499');
  expect(slack.looks).toBe(before);
  await directory.member('U0');
  expect(slack.looks).toBe(before + 1);
});

test.each([
  ['with the scope a channel has its name', ['users:read', 'channels:read'], true],
  ['without the scope Slack is not asked for it', ['users:read'], false],
])('%s', async (_, scopes, isAsked) => {
  const slack = await slackForTest({ app: { scopes } });
  const directory = new Directory(connectionFor(socketSettings(slack)).app.client);
  expect(await directory.nameOf(CHANNELS.general)).toBe(isAsked ? '#general' : undefined);
  const methods = slack.workspace.calls.map(({ method }) => method);
  expect(methods.includes('conversations.info')).toBe(isAsked);
});
