import { type WebAPICallResult, WebClient } from '@slack/web-api';
import { pino } from 'pino';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { ThreadStatus } from '../../src/bot/thread-status.ts';

/** A Slack that takes everything and keeps what it was sent. */
class KeepingSlack extends WebClient {
  readonly sent: unknown[] = [];

  override async apiCall(method: string, options: Record<string, unknown> = {}): Promise<WebAPICallResult> {
    const { status, title } = options;
    this.sent.push([method, status, ...(title === undefined ? [] : [title])]);
    return { ok: true };
  }
}

const thread = { channel: 'C1', threadTs: '1.2' };
const start = { initiator: 'U-rita', title: 'refund order A-1001', isNew: true };
const SESSION = 'agents.sessions.setStatus';
const LINE = 'assistant.threads.setStatus';

function openStatus() {
  const slack = new KeepingSlack('xoxb-test');
  return { status: new ThreadStatus(slack, pino({ level: 'silent' })), slack };
}

beforeEach(() => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
});

test('a turn that ends within a second shows nothing', async () => {
  const { status, slack } = openStatus();
  status.begin(thread, start);
  await vi.advanceTimersByTimeAsync(900);
  status.end(thread, { session: 'suspended', isFollowed: true, isStreamed: false });
  await vi.advanceTimersByTimeAsync(300_000);
  expect(slack.sent).toEqual([]);
});

test('a longer turn is said to be processing from its start, so that Slack shows Stop; a message that follows removes its line', async () => {
  const { status, slack } = openStatus();
  status.begin(thread, start);
  await vi.advanceTimersByTimeAsync(1_500);
  status.end(thread, { session: 'suspended', isFollowed: true, isStreamed: false });
  await vi.advanceTimersByTimeAsync(300_000);
  expect(slack.sent).toEqual([
    [SESSION, 'processing', 'refund order A-1001'],
    ['agents.sessions.rename', undefined, 'refund order A-1001'],
    [LINE, 'is thinking…'],
    [SESSION, 'suspended'],
  ]);
});

test('a turn after a decision shows nothing for five seconds, since its card has just changed', async () => {
  const { status, slack } = openStatus();
  status.begin(thread, { ...start, isContinued: true });
  await vi.advanceTimersByTimeAsync(4_900);
  expect(slack.sent).toEqual([]);
  await vi.advanceTimersByTimeAsync(200);
  expect(slack.sent.map((sent) => JSON.stringify(sent))).toContain(JSON.stringify([LINE, 'is thinking…']));
});

test('a long turn has a session with a title, whose status follows it and the turns after it', async () => {
  const { status, slack } = openStatus();
  status.begin(thread, start);
  await vi.advanceTimersByTimeAsync(11_000);
  status.end(thread, { session: 'suspended', isFollowed: true, isStreamed: false });
  await vi.advanceTimersByTimeAsync(0);
  expect(slack.sent.splice(0)).toEqual([
    [SESSION, 'processing', 'refund order A-1001'],
    // Slack did not say that it took the title.
    ['agents.sessions.rename', undefined, 'refund order A-1001'],
    [LINE, 'is thinking…'],
    [SESSION, 'suspended'],
  ]);
  status.begin(thread, { ...start, isNew: false });
  status.end(thread, { session: 'active', isFollowed: true, isStreamed: false });
  await vi.advanceTimersByTimeAsync(0);
  expect(slack.sent).toEqual([[SESSION, 'active']]);
});

test('the end of a stream sets the status of the session by itself', async () => {
  const { status, slack } = openStatus();
  status.begin(thread, start);
  status.end(thread, { session: 'suspended', isFollowed: true, isStreamed: true });
  await vi.advanceTimersByTimeAsync(0);
  expect(slack.sent).toEqual([]);
  status.begin(thread, { ...start, isNew: false });
  status.end(thread, { session: 'active', isFollowed: true, isStreamed: false });
  await vi.advanceTimersByTimeAsync(0);
  expect(slack.sent).toEqual([[SESSION, 'active']]);
});

test('a line is sent again before Slack removes it, and only a changed line is sent', async () => {
  const { status, slack } = openStatus();
  status.begin(thread, start);
  await vi.advanceTimersByTimeAsync(1_000);
  status.setLine(thread, 'is thinking…');
  await vi.advanceTimersByTimeAsync(250_000);
  const lines = () => slack.sent.filter((sent) => JSON.stringify(sent).includes(LINE));
  expect(lines()).toEqual(Array.from({ length: 3 }, () => [LINE, 'is thinking…']));
  slack.sent.length = 0;
  status.end(thread, { session: 'active', isFollowed: false, isStreamed: false });
  await vi.advanceTimersByTimeAsync(300_000);
  expect(slack.sent).toEqual([
    [LINE, ''],
    [SESSION, 'active'],
  ]);
});

test('the end of a turn in a thread that another process began is shown', async () => {
  const { status, slack } = openStatus();
  status.begin(thread, { ...start, isNew: false });
  status.end(thread, { session: 'active', isFollowed: true, isStreamed: false });
  await vi.advanceTimersByTimeAsync(0);
  expect(slack.sent).toEqual([[SESSION, 'active']]);
});
