import { type WebAPICallResult, WebClient } from '@slack/web-api';
import { expect, test } from 'vitest';
import { MessageLinks } from '../../../src/bot/slack/thread.ts';

/** A Slack that gives links in a form of its own, and counts how often it is asked. */
class LinkingSlack extends WebClient {
  readonly #form: (channel: string, ts: string) => string;
  asked = 0;

  constructor(form: (channel: string, ts: string) => string) {
    super('xoxb-test');
    this.#form = form;
  }

  override async apiCall(_method: string, options: Record<string, unknown> = {}): Promise<WebAPICallResult> {
    this.asked += 1;
    const permalink = this.#form(String(options.channel), String(options.message_ts));
    return Object.assign({ ok: true }, { permalink });
  }
}

const usual = (channel: string, ts: string) =>
  `https://shop.slack.com/archives/${channel}/p${ts.replace('.', '')}?thread_ts=1.000001&cid=${channel}`;
const reply = (ts: string) => ({ channel: 'C1', ts, threadTs: '1.000001' });

test('Slack is asked once; later links have the same form', async () => {
  const slack = new LinkingSlack(usual);
  const links = new MessageLinks(slack);
  for (const ts of ['2.000002', '3.000003']) expect(await links.linkTo(reply(ts))).toBe(usual('C1', ts));
  expect(slack.asked).toBe(1);
});

test('a form that is not known is never built, and the first message of a thread is always asked for', async () => {
  const strange = (channel: string, ts: string) => `https://shop.example/${channel}/${ts}`;
  const slack = new LinkingSlack(strange);
  const links = new MessageLinks(slack);
  for (const ts of ['2.000002', '3.000003', '1.000001'])
    expect(await links.linkTo(reply(ts))).toBe(strange('C1', ts));
  expect(slack.asked).toBe(3);
});
