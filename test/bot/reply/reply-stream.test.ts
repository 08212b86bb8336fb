import { type WebAPICallResult, WebClient } from '@slack/web-api';
import { pino } from 'pino';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { ReplyStream } from '../../../src/bot/reply/reply-stream.ts';

/** A Slack that takes everything and keeps what it was sent. */
class KeepingSlack extends WebClient {
  readonly sent: { readonly method: string; readonly text: unknown }[] = [];

  override async apiCall(method: string, options: Record<string, unknown> = {}): Promise<WebAPICallResult> {
    this.sent.push({ method, text: options.markdown_text });
    const answer = { ok: true, ts: '1.5' };
    return answer;
  }
}

/** A stream that opens when it is told to, or not at all. */
function closedStream() {
  const slack = new KeepingSlack('xoxb-test');
  let open = () => {};
  let refuse = () => {};
  const opens = new Promise<void>((resolve, reject) => {
    open = resolve;
    refuse = () => reject(new Error('not granted'));
  });
  const recipient = { userId: 'U-rita', teamId: 'T1' };
  const thread = { channel: 'C1', threadTs: '1.2' };
  const stream = new ReplyStream(slack, thread, recipient, pino({ level: 'silent' }), opens);
  return { stream, slack, open: () => open(), refuse: () => refuse() };
}

beforeEach(() => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
});

test('what is said before a stream opens is shown when it does, once', async () => {
  const { stream, slack, open } = closedStream();
  stream.push('One two ');
  await vi.advanceTimersByTimeAsync(60_000);
  stream.push('three. ');
  await vi.advanceTimersByTimeAsync(60_000);
  expect(slack.sent).toEqual([]);

  open();
  await vi.advanceTimersByTimeAsync(0);
  stream.push('Four.\n\n');
  await vi.advanceTimersByTimeAsync(60_000);
  expect(slack.sent.map(({ method }) => method)).toEqual(['chat.startStream', 'chat.appendStream']);
  const shown = slack.sent.map(({ text }) => text).join('');
  expect(stream.text).toBe('One two three. Four.\n\n');
  expect(await stream.end()).toEqual({ ts: '1.5', sent: shown.length });
  expect(stream.text.startsWith(shown)).toBe(true);
});

test('what was said to its end by the time it opens is not streamed: it comes whole', async () => {
  const { stream, slack, open } = closedStream();
  stream.push('Done.\n\n');
  await vi.advanceTimersByTimeAsync(10);
  open();
  await Promise.resolve();
  expect(await stream.end()).toBeUndefined();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(slack.sent).toEqual([]);
});

test('a stream that does not open shows nothing, neither what was said before nor what is said after', async () => {
  const { stream, slack, refuse } = closedStream();
  stream.push('One two ');
  await vi.advanceTimersByTimeAsync(0);
  refuse();
  await vi.advanceTimersByTimeAsync(60_000);
  stream.push('three. ');
  await vi.advanceTimersByTimeAsync(60_000);
  expect(await stream.end()).toBeUndefined();
  expect(slack.sent).toEqual([]);
  expect(stream.text).toBe('One two three. ');
});
