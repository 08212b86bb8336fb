import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CAST } from '../../stories/support.ts';
import { replaceOnce, startPlay } from './support.ts';

const SEVERAL_SCENES_MS = 180_000;

test(
  'a file is read at once and written when it was signed; all orders are read side by side and the task is declared complete',
  async () => {
    const play = await startPlay();
    await play.hears(play.ask('Read notes.md.'), /notes\.md says:\n```\nTwelve lemons\.\n```/);

    const write = play.ask('Write "Water the plants" into todo.txt.');
    await write.shows(/Approval needed: write_file/);
    expect(() => readFileSync(join(play.folder, 'todo.txt'))).toThrow();
    await write.click(CAST.alice, /Approval needed/, 'approve');
    await play.hears(write, /todo\.txt is written\./);
    expect(readFileSync(join(play.folder, 'todo.txt'), 'utf8')).toBe('Water the plants\n');

    const sum = play.ask('Check all orders and sum up.');
    const result = await play.hears(sum, /Done\.[\s\S]*"sold": 88300/);
    expect(result).toContain('4 orders over $883.00, of which $0.00 was refunded.');
  },
  SEVERAL_SCENES_MS,
);

test(
  'a form and a call-back are waited for, and what came is told as it came',
  async () => {
    const play = await startPlay({ withoutBot: true });
    const bot = await play.startOwnBot();
    const form = play.ask('I want to report an incident.');
    await play.fillIn(form, CAST.requester, [/Please fill in/, 'fill-in'], {
      'field-0': 'The lift is stuck',
      'field-1': '2',
      'field-2': '3',
    });
    const told = await play.hears(form, /it goes nowhere from here\./);
    expect(told).toContain('{"title":"The lift is stuck","severity":"high","people":3}');

    const build = play.ask('Tell me when the build of checkout is done.');
    await build.click(CAST.requester, /show-address/, 'show-address');
    const { text } = await play.noticeFor(CAST.requester, /report back/);
    const [path = ''] = /\/callback\/[\w.-]+/.exec(text) ?? [];
    const body = '{"ok":true}';
    const report = await fetch(`http://127.0.0.1:${bot.port}${path}`, { method: 'POST', body });
    expect(report.status).toBe(200);
    await play.hears(build, /was reported for “the build of checkout is done”: `\{"ok":true\}`/);
  },
  SEVERAL_SCENES_MS,
);

test(
  'a refund without an order and an amount asks for both, one after the other, and takes a written answer',
  async () => {
    const play = await startPlay();
    const thread = play.ask('A customer wants their money back.');
    await thread.shows(/Which order was it\?/);
    play.ask('a 1002', { threadTs: thread.ts });
    await thread.click(CAST.requester, /How much is to be refunded\?/, 'choose:1');
    await play.hears(thread, /Refunded \$44\.50 of order A-1002\./);
    expect(await play.ledger.order('A-1002')).toMatchObject({ refunded: 4_450 });

    const withdrawn = play.ask('A customer wants their money back.');
    await withdrawn.click(CAST.requester, /Which order was it\?/, 'withdraw');
    await play.hears(withdrawn, /My question was withdrawn, so nothing was done\./);
  },
  SEVERAL_SCENES_MS,
);

test(
  'what expired is asked for again with the same line, on a card of its own',
  async () => {
    const play = await startPlay({ change: (text) => replaceOnce(text, 'expires: 45s', 'expires: 3s') });
    const thread = play.ask('Please publish on the status page: "All is well."');
    const card = await thread.shows(/publish_status: expired/);
    await play.workspace.as(CAST.requester).click({ channel: thread.channel, ts: card.ts }, 'ask-again');
    const anew = await thread.shows(/Approval needed[\s\S]*All is well\./);
    expect(anew.ts).not.toBe(card.ts);
    await play.hears(thread, /I ask for it once more, unchanged\./);
  },
  SEVERAL_SCENES_MS,
);

test(
  'who speaks while a signature is awaited hears the outcome of the first before the answer to the second',
  async () => {
    const play = await startPlay();
    const thread = play.ask('Please refund 120 dollars of order A-1001.');
    await thread.shows(/Approval needed/);
    play.ask('Read notes.md.', { threadTs: thread.ts });
    await thread.click(CAST.alice, /Approval needed/, 'approve');
    await play.hears(thread, /Refunded \$120\.00 of order A-1001\.[\s\S]*notes\.md says/);
  },
  SEVERAL_SCENES_MS,
);
