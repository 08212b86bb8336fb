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

function openStream() {
  const slack = new KeepingSlack('xoxb-test');
  const recipient = { userId: 'U-rita', teamId: 'T1' };
  const thread = { channel: 'C1', threadTs: '1.2' };
  return { stream: new ReplyStream(slack, thread, async () => recipient, pino({ level: 'silent' })), slack };
}

beforeEach(() => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
});

test('a text that grows is shown piece by piece, and its end tells how much of it was shown', async () => {
  const { stream, slack } = openStream();
  stream.push('One two ');
  await vi.advanceTimersByTimeAsync(60_000);
  stream.push('three. Four.\n\n');
  await vi.advanceTimersByTimeAsync(60_000);
  expect(slack.sent.map(({ method }) => method)).toEqual(['chat.startStream', 'chat.appendStream']);
  const shown = slack.sent.map(({ text }) => text).join('');
  expect(stream.text).toBe('One two three. Four.\n\n');
  expect(await stream.end()).toEqual({ ts: '1.5', sent: shown.length });
  expect(stream.text.startsWith(shown)).toBe(true);
});

test('a text that is complete at once is not streamed: it is delivered as a whole', async () => {
  const { stream, slack } = openStream();
  stream.push('Done.\n\n');
  await vi.advanceTimersByTimeAsync(100);
  expect(await stream.end()).toBeUndefined();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(slack.sent).toEqual([]);
});
