import { type WebAPICallResult, WebClient } from '@slack/web-api';
import { pino } from 'pino';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { ReplyStream } from '../../../src/bot/outbox/reply-stream.ts';

/** A Slack that takes everything and keeps what it was sent. */
class KeepingSlack extends WebClient {
  refusesBlocks = false;
  readonly sent: { readonly method: string; readonly text: string; readonly chunks: unknown }[] = [];

  override async apiCall(method: string, options: Record<string, unknown> = {}): Promise<WebAPICallResult> {
    const chunks = z
      .array(z.looseObject({ type: z.string(), text: z.string().optional() }))
      .parse(options.chunks);
    if (this.refusesBlocks && chunks.some(({ type }) => type === 'blocks'))
      throw Object.assign(new Error('refused'), {
        code: 'slack_webapi_platform_error',
        data: { error: 'invalid_blocks' },
      });
    this.sent.push({ method, text: chunks.map(({ text = '' }) => text).join(''), chunks });
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

const step = { id: 'c1', title: 'Read the order', status: 'in_progress' as const };

test('the steps of a turn that takes long are shown above its text, and their changes follow', async () => {
  const { stream, slack } = openStream();
  stream.setStep(step);
  await vi.advanceTimersByTimeAsync(3_900);
  expect(slack.sent).toEqual([]);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(slack.sent.map(({ chunks }) => chunks)).toEqual([
    [
      { type: 'plan_update', title: 'Steps' },
      { type: 'task_update', ...step },
    ],
  ]);
  stream.setStep({ ...step, status: 'complete' });
  stream.push('It is a desk.\n\n');
  await vi.advanceTimersByTimeAsync(1_000);
  expect(slack.sent.at(-1)?.chunks).toEqual([
    { type: 'task_update', ...step, status: 'complete' },
    { type: 'markdown_text', text: 'It is a desk.\n\n' },
  ]);
  expect(await stream.end()).toEqual({ ts: '1.5', sent: 15 });
  expect(slack.sent).toHaveLength(2);
});

test('the steps of a quick turn are not shown', async () => {
  const { stream, slack } = openStream();
  stream.setStep(step);
  stream.push('It is a desk.\n\n');
  await vi.advanceTimersByTimeAsync(1_000);
  stream.setStep({ ...step, status: 'complete' });
  await stream.end();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(slack.sent.map(({ chunks }) => chunks)).toEqual([
    [{ type: 'markdown_text', text: 'It is a desk.\n\n' }],
  ]);
});

test('the last change of a step is shown before the stream ends', async () => {
  const { stream, slack } = openStream();
  stream.setStep(step);
  await vi.advanceTimersByTimeAsync(5_000);
  stream.setStep({ ...step, status: 'pending', details: 'Waiting for approval' });
  expect(await stream.end()).toEqual({ ts: '1.5', sent: 0 });
  expect(slack.sent.at(-1)?.chunks).toEqual([
    { type: 'task_update', ...step, status: 'pending', details: 'Waiting for approval' },
  ]);
});

test('a new step stands behind the paragraph before it, and never cuts a sentence', async () => {
  const { stream, slack } = openStream();
  stream.push('I look up the order. It may take ');
  await vi.advanceTimersByTimeAsync(5_000);
  stream.push('a while');
  stream.pause();
  stream.setStep(step);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(slack.sent.at(-1)?.chunks).toEqual([
    { type: 'markdown_text', text: 'a while' },
    { type: 'plan_update', title: 'Steps' },
    { type: 'task_update', ...step },
  ]);
  stream.push('It is ');
  stream.setStep({ ...step, id: 'c2' });
  await vi.advanceTimersByTimeAsync(2_000);
  expect(slack.sent.at(-2)?.chunks).toEqual([
    { type: 'markdown_text', text: '\n\n' },
    { type: 'task_update', ...step, id: 'c2' },
  ]);
  expect(slack.sent.at(-1)?.chunks).toEqual([{ type: 'markdown_text', text: 'It is ' }]);
});

test('a table is streamed as a block of Slack when it is whole, and as Markdown where Slack refuses the block', async () => {
  const text = '| a |\n|---|\n| b |\nDone.\n';
  for (const refuses of [false, true]) {
    const { stream, slack } = openStream();
    slack.refusesBlocks = refuses;
    for (const line of text.split(/(?<=\n)/)) {
      stream.push(line);
      await vi.advanceTimersByTimeAsync(1_000);
    }
    const [first] = slack.sent;
    expect(first?.chunks).toMatchObject(
      refuses
        ? [{ type: 'markdown_text', text }]
        : [{ type: 'blocks' }, { type: 'markdown_text', text: 'Done.\n' }],
    );
    expect(await stream.end()).toEqual({ ts: '1.5', sent: text.length });
  }
});
